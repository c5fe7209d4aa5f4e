"""Triton's compiler and launcher on the software device, without PyTorch, results compared with numpy.

Triton assembles its PTX at run time: run.sh has it use the stand-in emulator/libcuda/bin/ptxas. Arrays are objects with
an address and a type, which is all that Triton asks of a tensor.
"""

import numpy as np
import triton
import triton.language as tl
from cuda.bindings import driver

N = 1000
RANDOM = np.random.default_rng(15)


def ok(answer):
    assert answer[0] == driver.CUresult.CUDA_SUCCESS, answer
    return answer[1] if len(answer) == 2 else None


class Array:
    """An array on the device."""

    def __init__(self, values):
        # The device's context, which Triton makes when it is first asked for the device.
        triton.runtime.driver.active.get_current_target()
        self.values, self.dtype = np.ascontiguousarray(values), str(values.dtype)
        self.address = int(ok(driver.cuMemAlloc(self.values.nbytes)))
        ok(driver.cuMemcpyHtoD(self.address, self.values.ctypes.data, self.values.nbytes))

    def data_ptr(self):
        return self.address

    def read(self):
        host = np.empty_like(self.values)
        ok(driver.cuCtxSynchronize())
        ok(driver.cuMemcpyDtoH(host.ctypes.data, self.address, host.nbytes))
        return host


def floats(*shape):
    return RANDOM.standard_normal(shape, dtype=np.float32)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def test_add():
    x, y, out = Array(floats(N)), Array(floats(N)), Array(np.full(N, np.nan, dtype=np.float32))
    add[(triton.cdiv(N, 256),)](x, y, out, N, BLOCK=256)
    np.testing.assert_array_equal(out.read(), x.values + y.values)


def test_what_lies_behind_the_end_is_not_touched():
    x, y, out = Array(floats(N)), Array(floats(N)), Array(np.full(N, 7, dtype=np.float32))
    add[(triton.cdiv(N, 256),)](x, y, out, N - 300, BLOCK=256)
    assert (out.read()[N - 300:] == 7).all()


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, powers / tl.sum(powers, axis=0), mask=inside)


def test_softmax():
    x = Array(floats(17, 300))
    out = Array(np.zeros_like(x.values))
    softmax[(17,)](x, out, 300, BLOCK=512)
    powers = np.exp(x.values - x.values.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out.read(), powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


def test_prefix_sums():
    x = Array(RANDOM.integers(-100, 100, 1024, dtype=np.int32))
    out = Array(np.zeros_like(x.values))
    scan[(1,)](x, out, BLOCK=1024)
    np.testing.assert_array_equal(out.read(), np.cumsum(x.values))


@triton.jit
def histogram(x, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.atomic_add(counts + tl.load(x + at, mask=inside, other=0), 1, mask=inside)


def test_atomics():
    x = Array(RANDOM.integers(0, 10, N, dtype=np.int32))
    counts = Array(np.zeros(10, dtype=np.int32))
    histogram[(triton.cdiv(N, 128),)](x, counts, N, BLOCK=128)
    np.testing.assert_array_equal(counts.read(), np.bincount(x.values, minlength=10))


@triton.jit
def multiply(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0)
        right = tl.load(b + inner[:, None] * N + columns[None, :],
                        mask=(inner[:, None] < K) & (columns[None, :] < N), other=0)
        sums += tl.dot(left, right)
    tl.store(c + rows[:, None] * N + columns[None, :], sums, mask=(rows[:, None] < M) & (columns[None, :] < N))


def check_matrices(m, n, k, block):
    # Small integers, whose products and sums are exact.
    a = Array(RANDOM.integers(-4, 5, (m, k)).astype(np.float16))
    b = Array(RANDOM.integers(-4, 5, (k, n)).astype(np.float16))
    c = Array(np.zeros((m, n), dtype=np.float32))
    multiply[(triton.cdiv(m, block), triton.cdiv(n, block))](a, b, c, m, n, k, BM=block, BN=block, BK=32)
    np.testing.assert_array_equal(c.read(), a.values.astype(np.float32) @ b.values.astype(np.float32))


def test_matrices():
    """Of halves, on tensor cores, by mma.sync: for larger blocks, Triton takes wgmma from compute capability 9.0 on."""
    check_matrices(70, 50, 90, 32)


def test_the_stand_in_is_what_assembles():
    compiled = add.warmup(Array(floats(4)), Array(floats(4)), Array(floats(4)), 4, BLOCK=64, grid=(1,))
    assert compiled.asm["cubin"] == compiled.asm["ptx"].encode() + b"\0"
