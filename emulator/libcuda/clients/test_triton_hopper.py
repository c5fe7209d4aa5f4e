"""What Triton makes of products of larger blocks for compute capability 9.0: `wgmma`, and copies by tensor maps.

The elements are small whole numbers, whose products and sums are exact, in any order.
"""

import numpy as np
import pytest
import triton
import triton.language as tl
from test_triton import RANDOM, Array, check_matrices
from triton.tools.tensor_descriptor import TensorDescriptor


class Matrix(Array):
    """An array with what Triton asks of the base of a descriptor."""

    def __init__(self, values):
        super().__init__(values)
        self.dtype, self.shape = values.dtype, values.shape

    def stride(self):
        return tuple(step // self.values.itemsize for step in self.values.strides)

    def descriptor(self, *block):
        return TensorDescriptor(self, list(self.shape), list(self.stride()), list(block))


def numbers(rows, columns):
    return RANDOM.integers(-4, 5, (rows, columns)).astype(np.float16)


def check(compiled, c, a, b, *opcodes):
    np.testing.assert_array_equal(c.read(), a.values.astype(np.float32) @ b.values.astype(np.float32))
    for opcode in opcodes:
        assert opcode in compiled.asm["ptx"], opcode


@pytest.mark.parametrize("m, n, k, block", [(128, 128, 64, 64), (130, 200, 90, 128)])
def test_pointers(m, n, k, block):
    check_matrices(m, n, k, block)


@triton.jit
def by_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        sums = tl.dot(a.load([row, start]), b.load([start, column]), sums)
    c.store([row, column], sums)


@pytest.mark.parametrize("m, n, k, blocks, options", [
    (128, 128, 64, (64, 64, 64), {}),
    (144, 200, 264, (128, 64, 64), {"num_stages": 3}),
    (200, 136, 136, (128, 128, 32), {"num_stages": 4, "num_warps": 8}),
])
def test_descriptors_of_the_host(m, n, k, blocks, options):
    BM, BN, BK = blocks
    a, b = Matrix(numbers(m, k)), Matrix(numbers(k, n))
    c = Matrix(np.zeros((m, n), dtype=np.float32))
    compiled = by_descriptors[(triton.cdiv(m, BM), triton.cdiv(n, BN))](
        a.descriptor(BM, BK), b.descriptor(BK, BN), c.descriptor(BM, BN), k, BM=BM, BN=BN, BK=BK, **options)
    check(compiled, c, a, b, "wgmma.mma_async", "cp.async.bulk.tensor.2d.shared", "cp.async.bulk.tensor.2d.global")


@triton.jit
def by_own_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        sums = tl.dot(a.load([row, start]), b.load([start, column]), sums)
    c.store([row, column], sums)


def test_descriptors_that_the_kernel_makes():
    memory = []

    def allocate(size, _alignment, _stream):
        memory.append(Array(np.zeros(size, dtype=np.uint8)))
        return memory[-1]

    triton.set_allocator(allocate)
    m, n, k = 128, 136, 264
    a, b = Matrix(numbers(m, k)), Matrix(numbers(k, n))
    c = Matrix(np.zeros((m, n), dtype=np.float32))
    compiled = by_own_descriptors[(2, 3)](a, b, c, m, n, k, BM=64, BN=64, BK=64, num_stages=3)
    check(compiled, c, a, b, "wgmma.mma_async", "tensormap.replace", "tensormap.cp_fenceproxy")


@triton.jit
def add_by_descriptor(x, out, BLOCK: tl.constexpr):
    out.atomic_add([tl.program_id(0) * BLOCK, 0], x.load([tl.program_id(0) * BLOCK, 0]))


def test_reductions():
    x, out = Matrix(numbers(60, 32).astype(np.float32)), Matrix(numbers(60, 32).astype(np.float32))
    compiled = add_by_descriptor[(2,)](x.descriptor(32, 32), out.descriptor(32, 32), BLOCK=32)
    np.testing.assert_array_equal(out.read(), out.values + x.values)
    assert "cp.reduce.async.bulk.tensor" in compiled.asm["ptx"]


class Bytes(Array):
    """Numbers of 8 bits with another name for their type."""

    def __init__(self, values, dtype):
        super().__init__(values)
        self.dtype = dtype


@triton.jit
def multiply_whole(a, b, c, K, N: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, N)
    sums = tl.zeros((BM, N), dtype=tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        left, right = tl.load(a + rows[:, None] * K + inner[None, :]), tl.load(b + inner[:, None] + columns[None, :] * K)
        sums = tl.dot(left, right, sums)
    tl.store(c + rows[:, None] * N + columns[None, :], sums)


def test_numbers_of_8_bits():
    """Of floating point: 0 and the powers of two from 1 to 8, of either sign."""
    codes = np.array([0x00, 0x38, 0x40, 0x48, 0x50, 0xb8, 0xc0, 0xc8, 0xd0], dtype=np.uint8)
    values = np.array([0, 1, 2, 4, 8, -1, -2, -4, -8], dtype=np.float32)
    left, right = RANDOM.integers(0, 9, (128, 128)), RANDOM.integers(0, 9, (64, 128))
    a, b = Bytes(codes[left], "float8_e4m3fn"), Bytes(codes[right], "float8_e4m3fn")
    c = Array(np.zeros((128, 64), dtype=np.float32))
    compiled = multiply_whole[(2,)](a, b, c, 128, N=64, BM=64, BK=64)
    np.testing.assert_array_equal(c.read(), values[left] @ values[right].T)
    assert "e4m3.e4m3" in compiled.asm["ptx"]
