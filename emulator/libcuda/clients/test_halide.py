"""Halide on the software device, results compared with numpy. Halide writes PTX by itself, with LLVM."""

import halide as hl
import numpy as np
import pytest

HOST = hl.get_jit_target_from_environment()
X, Y, XI, YI, XO = (hl.Var(name) for name in ("x", "y", "xi", "yi", "xo"))
CAPABILITIES = [None, "CUDACapability80"]


@pytest.fixture(params=CAPABILITIES)
def device(request):
    target = HOST.with_feature(hl.TargetFeature.CUDA)
    return target.with_feature(getattr(hl.TargetFeature, request.param)) if request.param else target


def image(rng, *shape):
    return rng.random(shape, dtype=np.float32)


def test_a_stencil_in_shared_memory(device):
    picture = image(np.random.default_rng(1), 60, 100)
    clamped = hl.BoundaryConditions.repeat_edge(hl.Buffer(picture))
    rows, blur = hl.Func("rows"), hl.Func("blur")
    rows[X, Y] = clamped[X - 1, Y] + clamped[X, Y] + clamped[X + 1, Y]
    blur[X, Y] = rows[X, Y - 1] + rows[X, Y] + rows[X, Y + 1]
    blur.gpu_tile(X, Y, XI, YI, 16, 8)
    rows.compute_at(blur, X).gpu_threads(X, Y)
    padded = np.pad(picture, 1, mode="edge")
    expected = sum(padded[dy:dy + 60, dx:dx + 100] for dy in range(3) for dx in range(3))
    np.testing.assert_allclose(np.array(blur.realize([100, 60], device)), expected, rtol=1e-5)


def test_a_matrix_product(device):
    rng = np.random.default_rng(2)
    a, b = image(rng, 48, 64), image(rng, 64, 80)
    left, right = hl.Buffer(a), hl.Buffer(b)
    product, k = hl.Func("product"), hl.RDom([(0, 64)])
    product[X, Y] = 0.0
    product[X, Y] += left[k.x, Y] * right[X, k.x]
    product.gpu_tile(X, Y, XI, YI, 16, 16)
    product.update(0).gpu_tile(X, Y, XI, YI, 16, 16)
    np.testing.assert_allclose(np.array(product.realize([80, 48], device)), a @ b, rtol=1e-5)


def test_a_histogram_with_atomic_operations(device):
    values = np.random.default_rng(3).integers(0, 64, 5000, dtype=np.int32)
    buffer, counts, at = hl.Buffer(values), hl.Func("counts"), hl.RDom([(0, 5000)])
    counts[X] = 0
    counts[hl.clamp(buffer[at.x], 0, 63)] += 1
    counts.gpu_tile(X, XI, 16)
    outer, inner = hl.RVar("outer"), hl.RVar("inner")
    counts.update(0).atomic().split(at.x, outer, inner, 128).gpu_blocks(outer).gpu_threads(inner)
    np.testing.assert_array_equal(np.array(counts.realize([64], device)), np.bincount(values, minlength=64))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32, np.int64])
def test_integers_of_each_width(device, dtype):
    numbers = np.random.default_rng(4).integers(0, 100, 1000).astype(dtype)
    buffer, result = hl.Buffer(numbers), hl.Func("result")
    value = buffer[X]
    result[X] = hl.select((value & 1) == 0, value * 3, value / 7 + value % 5)
    result.gpu_tile(X, XI, 64)
    expected = np.where(numbers % 2 == 0, numbers * 3, numbers // 7 + numbers % 5).astype(dtype)
    np.testing.assert_array_equal(np.array(result.realize([1000], device)), expected)


def test_mathematical_functions(device):
    numbers = image(np.random.default_rng(5), 500) + np.float32(0.5)
    buffer, result = hl.Buffer(numbers), hl.Func("result")
    value = buffer[X]
    result[X] = hl.exp(value) + hl.log(value) * hl.sin(value) + hl.sqrt(value) / hl.pow(value, 1.5)
    result.gpu_tile(X, XI, 32)
    expected = np.exp(numbers) + np.log(numbers) * np.sin(numbers) + np.sqrt(numbers) / numbers**1.5
    np.testing.assert_allclose(np.array(result.realize([500], device)), expected, rtol=1e-4)
