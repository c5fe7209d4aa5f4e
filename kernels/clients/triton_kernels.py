"""Kernels in Triton, and their PTX for compute capability 8.0. Needs no GPU."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def triton_add(x, y, out, n, BLOCK: tl.constexpr):
    """out = x + y, n floats. A program for BLOCK of them."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def triton_softmax(x, out, columns, BLOCK: tl.constexpr):
    """Softmax of each row of floats. A program for each row, columns at most BLOCK."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(x + tl.program_id(0) * columns + at, mask=inside, other=-float("inf"))
    power = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * columns + at, power / tl.sum(power, axis=0), mask=inside)


@triton.jit
def triton_layer_norm(x, gain, bias, out, columns, BLOCK: tl.constexpr):
    """Each row less its mean, divided by its deviation, times gain plus bias. A program for each row."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(x + tl.program_id(0) * columns + at, mask=inside, other=0.0)
    mean = tl.sum(row, axis=0) / columns
    off = tl.where(inside, row - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(off * off, axis=0) / columns + 1e-5)
    result = off * scale * tl.load(gain + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(out + tl.program_id(0) * columns + at, result, mask=inside)


@triton.jit
def triton_matmul(a, b, c, n, TILE: tl.constexpr):
    """c = a * b for square matrices of n floats a side, a program for each tile, n a multiple of TILE. Exact products."""
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    ks = tl.arange(0, TILE)
    sums = tl.zeros((TILE, TILE), dtype=tl.float32)
    for first in range(0, n, TILE):
        left = tl.load(a + rows[:, None] * n + (first + ks)[None, :])
        right = tl.load(b + (first + ks)[:, None] * n + columns[None, :])
        sums = tl.dot(left, right, sums, input_precision="ieee")
    tl.store(c + rows[:, None] * n + columns[None, :], sums)


@triton.jit
def triton_matmul_half(a, b, c, n, TILE: tl.constexpr):
    """The same for matrices of halves, by tensor cores, with sums and results as floats."""
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    ks = tl.arange(0, TILE)
    sums = tl.zeros((TILE, TILE), dtype=tl.float32)
    for first in range(0, n, TILE):
        left = tl.load(a + rows[:, None] * n + (first + ks)[None, :])
        right = tl.load(b + (first + ks)[:, None] * n + columns[None, :])
        sums = tl.dot(left, right, sums)
    tl.store(c + rows[:, None] * n + columns[None, :], sums)


KERNELS = [
    (triton_add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024}),
    (triton_softmax, {"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 256}),
    (triton_layer_norm, {"x": "*fp32", "gain": "*fp32", "bias": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 256}),
    (triton_matmul, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32"}, {"TILE": 32}),
    (triton_matmul_half, {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32"}, {"TILE": 32}),
]


def generate():
    """Yields name, description of the compiler, and PTX."""
    for kernel, signature, constants in KERNELS:
        signature = signature | {name: "constexpr" for name in constants}
        # As Triton's launcher does for tensors and sizes that are multiples of 16.
        aligned = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if kind != "constexpr"}
        source = ASTSource(kernel, signature, constants, aligned)
        compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4})
        metadata = compiled.metadata
        description = f"Triton {triton.__version__}; warps: {metadata.num_warps}; shared memory: {metadata.shared} bytes"
        yield kernel.__name__, description, compiled.asm["ptx"]
