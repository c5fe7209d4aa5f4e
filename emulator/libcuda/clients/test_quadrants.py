"""Quadrants, a fork of Taichi, on the software device: its algorithms and fields, results compared with numpy."""

import numpy as np
import pytest
import quadrants as qd

N = 65_537  # more than a block of blocks: the algorithms take three phases
PHASES = 3


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("kernels"))
    qd.init(arch=qd.cuda, enable_fallback=False, offline_cache_file_path=folder, device_memory_GB=0.3)
    yield
    qd.reset()


@pytest.fixture
def random():
    return np.random.default_rng(23)


def field(dtype, values):
    made = qd.field(dtype, shape=len(values))
    made.from_numpy(values)
    return made


def count():
    return field(qd.i32, np.array([N], np.int32))


def test_a_field_is_filled_and_read_back():
    values = qd.field(qd.f32, shape=N)

    @qd.kernel
    def fill():
        for i in values:
            values[i] = i * 0.5

    fill()
    np.testing.assert_array_equal(values.to_numpy(), np.arange(N, dtype=np.float32) / 2)


@pytest.mark.parametrize("name", ["add", "min", "max"])
def test_reductions(name, random):
    numbers = random.integers(-1000, 1000, N).astype(np.int32)
    given, result, n = field(qd.i32, numbers), qd.field(qd.i32, shape=1), count()
    scratch = qd.field(qd.u32, shape=qd.algorithms.reduce_scratch_slots(N, PHASES))
    reduce = getattr(qd.algorithms, f"reduce_{name}")

    @qd.kernel
    def run():
        reduce(given, result, scratch, n[0], qd.i32, PHASES)

    run()
    expected = {"add": np.sum, "min": np.min, "max": np.max}[name](numbers)
    assert result.to_numpy()[0] == expected


def test_a_prefix_sum_of_wide_integers(random):
    numbers = random.integers(0, 1 << 62, N).astype(np.uint64)
    given, result, n = field(qd.u64, numbers), qd.field(qd.u64, shape=N), count()
    scratch = qd.field(qd.u64, shape=qd.algorithms.exclusive_scan_scratch_slots(N, PHASES))

    @qd.kernel
    def run():
        qd.algorithms.exclusive_scan_add(given, result, scratch, n[0], qd.u64, PHASES)

    run()
    np.testing.assert_array_equal(result.to_numpy(), np.concatenate([[np.uint64(0)], np.cumsum(numbers)[:-1]]))


def test_chosen_elements_are_packed(random):
    numbers = random.standard_normal(N).astype(np.float32)
    chosen = (random.random(N) < 0.3).astype(np.int32)
    given, flags, n = field(qd.f32, numbers), field(qd.i32, chosen), count()
    result, kept = qd.field(qd.f32, shape=N), qd.field(qd.i32, shape=1)
    scratch = qd.field(qd.u32, shape=qd.algorithms.select_scratch_slots(N))

    @qd.kernel
    def run():
        qd.algorithms.select(given, flags, result, kept, scratch, n[0], PHASES)

    run()
    expected = numbers[chosen == 1]
    assert kept.to_numpy()[0] == len(expected)
    np.testing.assert_array_equal(result.to_numpy()[:len(expected)], expected)


@pytest.mark.parametrize("dtype, bits", [(qd.f32, 32), (qd.i64, 64)])
def test_a_radix_sort_with_values(dtype, bits, random):
    host = {qd.f32: np.float32, qd.i64: np.int64}[dtype]
    numbers = (random.standard_normal(N) * 1e6).astype(host)
    keys, spare = field(dtype, numbers), qd.field(dtype, shape=N)
    values, spare_values = field(qd.i32, np.arange(N, dtype=np.int32)), qd.field(qd.i32, shape=N)
    scratch = qd.field(qd.u32, shape=qd.algorithms.sort_scratch_slots(N, PHASES))
    n = qd.field(qd.i32, shape=())
    n[None] = N

    @qd.kernel
    def run():
        qd.algorithms.sort(keys, spare, values, spare_values, scratch, n, dtype, True, bits, PHASES)

    run()
    order = np.argsort(numbers, kind="stable")
    np.testing.assert_array_equal(keys.to_numpy(), numbers[order])
    np.testing.assert_array_equal(values.to_numpy(), order)


def test_sums_of_equal_keys(random):
    numbers = np.sort(random.integers(0, 500, N)).astype(np.int32)
    amounts = random.integers(0, 100, N).astype(np.int32)
    keys, values, n = field(qd.i32, numbers), field(qd.i32, amounts), count()
    keys_out, sums, runs = qd.field(qd.i32, shape=N), qd.field(qd.i32, shape=N), qd.field(qd.i32, shape=1)
    scratch = qd.field(qd.u32, shape=qd.algorithms.reduce_by_key_scratch_slots(N))

    @qd.kernel
    def run():
        qd.algorithms.reduce_by_key_add(keys, values, keys_out, sums, runs, scratch, n[0], qd.i32, PHASES)

    run()
    expected, starts = np.unique(numbers, return_index=True)
    assert runs.to_numpy()[0] == len(expected)
    np.testing.assert_array_equal(keys_out.to_numpy()[:len(expected)], expected)
    np.testing.assert_array_equal(sums.to_numpy()[:len(expected)], np.add.reduceat(amounts, starts))


def test_kernels_as_a_graph():
    """Quadrants captures the loops of such a kernel in a graph, and launches the graph again for each step."""
    x, y = qd.ndarray(qd.f32, shape=N), qd.ndarray(qd.f32, shape=N)
    x.from_numpy(np.linspace(0, 1, N, dtype=np.float32))
    y.from_numpy(np.zeros(N, np.float32))

    @qd.kernel(graph=True)
    def step(x: qd.types.ndarray(qd.f32, ndim=1), y: qd.types.ndarray(qd.f32, ndim=1)):
        for i in range(x.shape[0]):
            y[i] = y[i] + x[i]
        for i in range(x.shape[0]):
            x[i] = x[i] * 0.5

    for _ in range(4):
        step(x, y)
    start = np.linspace(0, 1, N, dtype=np.float32)
    np.testing.assert_array_equal(x.to_numpy(), start / 16)
    np.testing.assert_allclose(y.to_numpy(), start * 1.875, rtol=1e-6)
