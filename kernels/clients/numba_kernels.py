"""Kernels in Python for Numba, and their PTX for compute capability 7.5. Needs no GPU."""

import re

import numba
import numba_cuda
from numba import cuda, float32, float64, int32, types


def numba_sum(x, out):
    """out[block] = sum of the floats of a block of 256 threads, grid-stride."""
    parts = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    parts[t] = total
    cuda.syncthreads()
    d = 128
    while d > 0:
        if t < d:
            parts[t] += parts[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        out[cuda.blockIdx.x] = parts[0]


def numba_mandelbrot(out, left, top, step, limit):
    """out[y, x] = number of iterations of the pixel, at most limit, in complex numbers of 128 bits."""
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        c = complex(left + x * step, top + y * step)
        z = 0j
        count = 0
        while count < limit and z.real * z.real + z.imag * z.imag <= 4.0:
            z = z * z + c
            count += 1
        out[y, x] = count


def numba_diffuse(x, out, rate):
    """out = x and a part of the differences from its four neighbors; edges are copied."""
    column, row = cuda.grid(2)
    height, width = x.shape
    if row < height and column < width:
        if row == 0 or column == 0 or row == height - 1 or column == width - 1:
            out[row, column] = x[row, column]
        else:
            around = x[row - 1, column] + x[row + 1, column] + x[row, column - 1] + x[row, column + 1]
            out[row, column] = x[row, column] + rate * (around - float32(4) * x[row, column])


KERNELS = [
    (numba_sum, (float32[::1], float32[::1])),
    (numba_mandelbrot, (int32[:, ::1], float64, float64, float64, int32)),
    (numba_diffuse, (float32[:, ::1], float32[:, ::1], float32)),
]


def generate():
    """Yields name, description of the compiler, and PTX, in which the function has its own name again."""
    for function, signature in KERNELS:
        ptx, _ = cuda.compile_ptx(function, types.void(*signature), cc=(7, 5))
        name = re.search(r"\.entry (\w+)\(", ptx)[1]
        versions = f"Numba {numba.__version__}, Numba-CUDA {numba_cuda.__version__}"
        yield function.__name__, f"{versions}; its name shortened", ptx.replace(name, function.__name__)
