"""The kernels of kernels/*.cu in Python, on Numba's CUDA simulator: prints how fast the one named runs.

    NUMBA_ENABLE_CUDASIM=1 python3 simulator.py KERNEL

The simulator runs every thread of a block as a thread of Python, some ten thousand times slower than anything else
here, so sizes are smaller and what counts is the rate. Blocks are as in the benchmark. One core, processor time, the
shortest of some runs; results are checked against NumPy. Prints `numba VERSION` and `rate UNITS-A-SECOND`.
"""

import os
import sys
import time

import numba
import numpy as np
from numba import cuda, float32

TILE = 16
BODIES = 128
THREADS = 256
SOFTENING = np.float32(1e-2)
random = np.random.default_rng(1)


@cuda.jit
def saxpy(n, alpha, x, y):
    i = cuda.grid(1)
    if i < n:
        y[i] = alpha * x[i] + y[i]


@cuda.jit
def saxpy_grid_stride(n, alpha, x, y):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        y[i] = alpha * x[i] + y[i]


@cuda.jit
def matmul_naive(a, b, c, m, n, k):
    column, row = cuda.grid(2)
    if row >= m or column >= n:
        return
    total = np.float32(0)
    for i in range(k):
        total += a[row, i] * b[i, column]
    c[row, column] = total


@cuda.jit
def matmul_tiled(a, b, c, m, n, k):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for first in range(0, k, TILE):
        tile_a[y, x] = a[row, first + x] if row < m and first + x < k else 0
        tile_b[y, x] = b[first + y, column] if first + y < k and column < n else 0
        cuda.syncthreads()
        for i in range(TILE):
            total += tile_a[y, i] * tile_b[i, x]
        cuda.syncthreads()
    if row < m and column < n:
        c[row, column] = total


@cuda.jit
def reduce_shared(values, partial, n):
    scratch = cuda.shared.array(THREADS, float32)
    thread = cuda.threadIdx.x
    total = np.float32(0)
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        total += values[i]
    scratch[thread] = total
    cuda.syncthreads()
    width = cuda.blockDim.x // 2
    while width > 0:
        if thread < width:
            scratch[thread] += scratch[thread + width]
        cuda.syncthreads()
        width //= 2
    if thread == 0:
        partial[cuda.blockIdx.x] = scratch[0]


@cuda.jit
def mandelbrot(counts, width, height, left, top, step, limit):
    x, y = cuda.grid(2)
    if x >= width or y >= height:
        return
    c_re = x * step + left
    c_im = y * step + top
    re = im = np.float32(0)
    count = 0
    while count < limit:
        im_squared = im * im
        if re * re + im_squared > 4:
            break
        next_re = re * re - im_squared + c_re
        im = (re + re) * im + c_im
        re = next_re
        count += 1
    counts[y, x] = count


@cuda.jit
def nbody(positions, velocities, next_positions, n, dt):
    tile = cuda.shared.array((BODIES, 4), float32)
    i, thread = cuda.grid(1), cuda.threadIdx.x
    own_x, own_y, own_z, own_mass = positions[i]
    ax = ay = az = np.float32(0)
    for first in range(0, n, BODIES):
        tile[thread] = positions[first + thread]
        cuda.syncthreads()
        for t in range(BODIES):
            x, y, z, mass = tile[t]
            dx, dy, dz = x - own_x, y - own_y, z - own_z
            inverse = 1 / np.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            pull = mass * inverse * inverse * inverse
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()
    velocities[i, :3] += np.array([ax, ay, az], np.float32) * dt
    next_positions[i, :3] = positions[i, :3] + velocities[i, :3] * dt
    next_positions[i, 3] = own_mass


def numbers(*shape):
    return random.uniform(-1, 1, shape).astype(np.float32)


# Each of the following gives the launch of one kernel and a check of its results after one launch: grid, block,
# arguments, units of work, check.


def saxpy_case(blocks):
    n, alpha, x, y = 1024, np.float32(0.5), numbers(1024), numbers(1024)
    wanted = alpha * x + y
    return blocks, THREADS, (n, alpha, x, y), n, lambda: np.testing.assert_allclose(y, wanted, atol=1e-6)


def matmul_case():
    a, b, c = numbers(32, 32), numbers(32, 32), np.zeros((32, 32), np.float32)
    check = lambda: np.testing.assert_allclose(c, a @ b, atol=1e-4)
    return (2, 2), (TILE, TILE), (a, b, c, 32, 32, 32), 2 * 32**3, check


def reduce_case():
    values, partial = numbers(4 * THREADS), np.zeros(2, np.float32)
    check = lambda: np.testing.assert_allclose(partial.sum(), values.sum(), atol=1e-3)
    return 2, THREADS, (values, partial, values.size), values.size, check


def mandelbrot_case():
    width, height, limit = 32, 16, 256
    left, top, step = np.float32(-2), np.float32(-1.25), np.float32(2.5 / width)
    counts = np.zeros((height, width), np.uint32)

    def check():
        c = left + step * np.arange(width) + 1j * (top + step * np.arange(height)[:, None])
        z, wanted = np.zeros_like(c), np.zeros(c.shape, np.uint32)
        for _ in range(limit):
            inside = np.abs(z) <= 2
            wanted += inside
            z = np.where(inside, z * z + c, z)
        assert (counts == wanted).mean() > 0.95, (counts, wanted)

    return (1, 2), (32, 8), (counts, width, height, left, top, step, limit), width * height, check


def nbody_case():
    n, dt = BODIES, np.float32(1e-3)
    positions, velocities, next_positions = numbers(n, 4), numbers(n, 4), np.zeros((n, 4), np.float32)
    positions[:, 3] = np.abs(positions[:, 3])
    apart = positions[None, :, :3].astype(float) - positions[:, None, :3]
    pull = positions[:, 3] / ((apart**2).sum(2) + SOFTENING) ** 1.5
    wanted = positions[:, :3] + (velocities[:, :3] + (pull[:, :, None] * apart).sum(1) * dt) * dt
    check = lambda: np.testing.assert_allclose(next_positions[:, :3], wanted, atol=1e-4)
    return 1, BODIES, (positions, velocities, next_positions, n, dt), n * n, check


CASES = {
    "saxpy": (saxpy, saxpy_case, 4),
    "saxpy_grid_stride": (saxpy_grid_stride, saxpy_case, 1),
    "matmul_naive": (matmul_naive, matmul_case),
    "matmul_tiled": (matmul_tiled, matmul_case),
    "reduce_shared": (reduce_shared, reduce_case),
    "mandelbrot": (mandelbrot, mandelbrot_case),
    "nbody": (nbody, nbody_case),
}


def main():
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    kernel, case, *parameters = CASES[sys.argv[1]]
    grid, block, arguments, work, check = case(*parameters)
    launch = kernel[grid, block]
    launch(*arguments)
    check()
    shortest, end = float("inf"), time.monotonic() + 0.3
    while shortest == float("inf") or time.monotonic() < end:
        start = time.process_time()
        launch(*arguments)
        shortest = min(shortest, time.process_time() - start)
    print(f"numba {numba.__version__}")
    print(f"rate {work / shortest:.6g}")


if __name__ == "__main__":
    main()
