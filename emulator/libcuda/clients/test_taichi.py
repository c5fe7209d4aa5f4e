"""Taichi on the software device, results compared with numpy."""

import numpy as np
import pytest
import taichi as ti

N = 1000


@pytest.fixture(scope="module", autouse=True)
def device():
    ti.init(arch=ti.cuda, random_seed=15)
    assert ti.cfg.arch == ti.cuda, "Taichi found no device and fell back to the CPU"
    yield
    ti.reset()


def test_a_field_is_filled_and_read_back():
    field = ti.field(ti.f32, shape=N)

    @ti.kernel
    def fill():
        for i in field:
            field[i] = i * 0.5

    fill()
    np.testing.assert_array_equal(field.to_numpy(), np.arange(N, dtype=np.float32) / 2)


def test_arrays_of_numpy_are_arguments():
    @ti.kernel
    def axpy(a: ti.f32, x: ti.types.ndarray(), y: ti.types.ndarray()):
        for i in x:
            y[i] = a * x[i] + y[i]

    x, y = np.arange(N, dtype=np.float32), np.ones(N, dtype=np.float32)
    axpy(2, x, y)
    np.testing.assert_array_equal(y, 2 * x + 1)


def test_sums_are_atomic():
    total = ti.field(ti.i32, shape=())

    @ti.kernel
    def sum_up(n: ti.i32):
        for i in range(n):
            total[None] += i

    sum_up(N)
    assert total[None] == N * (N - 1) // 2


def test_sparse_fields():
    """Cells that come to be when they are written, from the device's own lists and memory."""
    field = ti.field(ti.i32)
    ti.root.pointer(ti.i, 64).dense(ti.i, 16).place(field)
    seen = ti.field(ti.i32, shape=())

    @ti.kernel
    def write():
        for i in range(10):
            field[i * 100] = i + 1

    @ti.kernel
    def visit():
        for i in field:
            ti.atomic_add(seen[None], field[i])

    write()
    visit()
    assert seen[None] == 55
    values = field.to_numpy()
    assert np.count_nonzero(values) == 10
    np.testing.assert_array_equal(values[0:1000:100], np.arange(1, 11))


def test_matrices_and_math():
    vectors = ti.Vector.field(3, ti.f32, shape=N)
    lengths = ti.field(ti.f32, shape=N)

    @ti.kernel
    def measure():
        for i in vectors:
            turn = ti.Matrix([[ti.cos(0.5), -ti.sin(0.5), 0], [ti.sin(0.5), ti.cos(0.5), 0], [0, 0, 1]])
            lengths[i] = (turn @ vectors[i]).norm()

    values = np.random.default_rng(15).standard_normal((N, 3)).astype(np.float32)
    vectors.from_numpy(values)
    measure()
    np.testing.assert_allclose(lengths.to_numpy(), np.linalg.norm(values, axis=1), rtol=1e-5)


def test_julia_set():
    """Taichi's own first example, against the same in numpy."""
    n, steps = 64, 20
    pixels = ti.field(ti.i32, shape=(2 * n, n))

    @ti.kernel
    def paint():
        for i, j in pixels:
            z = ti.Vector([i / n - 1.0, j / n - 0.5]) * 2
            count = 0
            while z.norm() < 20 and count < steps:
                z = ti.Vector([z[0] ** 2 - z[1] ** 2, z[1] * z[0] * 2]) + ti.Vector([-0.8, 0.156])
                count += 1
            pixels[i, j] = count

    paint()
    i, j = np.mgrid[0:2 * n, 0:n].astype(np.float32)
    z = ((i / n - 1) + 1j * (j / n - 0.5)) * 2
    counts = np.zeros(z.shape, dtype=np.int32)
    for _ in range(steps):
        going = np.abs(z) < 20
        z = np.where(going, z * z + (-0.8 + 0.156j), z)
        counts += going
    # Chaos: roundings differ in the last bit, so a few pixels may.
    assert np.count_nonzero(pixels.to_numpy() != counts) < counts.size // 100
