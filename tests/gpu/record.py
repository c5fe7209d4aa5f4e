#!/usr/bin/env python3
"""Records what a real GPU computes for every case of testing/src/kernels/cases.rs.

    python3 tests/gpu/record.py OUTPUT-FOLDER

Writes kernels.txt there, to be committed as tests/data/goldens/kernels.txt; testing/src/kernels/golden.rs
describes the format. Inputs come from the same generator as in Rust, and each record carries their hash.
"""

import pathlib
import sys

import numpy as np

import driver

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"


def splitmix64(seed, count):
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def random_bytes(seed, count):
    return (splitmix64(seed, count) >> np.uint64(56)).astype(np.uint8)


def integers(seed, count):
    return (splitmix64(seed, count) >> np.uint64(32)).astype(np.uint32)


def floats(seed, count):
    steps = (splitmix64(seed, count) >> np.uint64(40)).astype(np.int64) - (1 << 23)
    return (steps * 2.0**-23).astype(np.float32)


class Buffer:
    def __init__(self, content, output):
        self.content, self.output = np.ascontiguousarray(content).tobytes(), output


def source(array):
    return Buffer(array, False)


def result(array):
    return Buffer(array, True)


def zeros(count, kind):
    return result(np.zeros(count, kind))


def value(kind, number):
    return np.array(number, kind).tobytes()


def u32(number):
    return value(np.uint32, number)


def f32(number):
    return value(np.float32, number)


def case(name, module, grid, block, arguments, shared=0, constants=()):
    def three(sides):
        return tuple(sides) + (1,) * (3 - len(sides))

    return name, module, three(grid), three(block), arguments, shared, constants


def cases():
    n = 1000
    x, y, alpha = floats(1, n), floats(2, n), f32(0.7)
    coefficients = np.array([0.5, -0.25, 0.125, 0.3, 1.7, 0.3, 0.125, -0.25, 0.5], np.float32)
    yield case("vector_add", "vector_add", [4], [256], [source(x), source(y), zeros(n, np.float32), u32(n)])
    yield case("saxpy", "saxpy", [4], [256], [u32(n), alpha, source(x), result(y)])
    yield case("saxpy_grid_stride", "saxpy", [2], [64], [u32(n), alpha, source(x), result(y)])
    yield case("stencil", "stencil", [8], [128], [source(x), zeros(n, np.float32), u32(n)],
               constants=[("stencil_coefficients", coefficients.tobytes())])

    for name, bits, kind in [
        ("fill_u8", 0xA5, np.uint8), ("fill_u16", 0xBEEF, np.uint16), ("fill_u32", 0xDEADBEEF, np.uint32),
        ("fill_u64", 0x0123456789ABCDEF, np.uint64), ("fill_f32", 0x7FC12345, np.uint32),
        ("fill_f64", 0x7FF80000DEADBEEF, np.uint64),
    ]:
        yield case(name, "fill", [2], [32], [zeros(100, kind), value(kind, bits), value(np.uint64, 100)])

    n = 10_000
    real, whole, text = floats(3, n), integers(4, n), random_bytes(5, n)
    yield case("reduce_shared", "reduce_shared", [4], [256], [source(real), zeros(4, np.float32), u32(n)])
    yield case("reduce_shared_dynamic", "reduce_shared", [3], [128],
               [source(whole), zeros(3, np.uint32), u32(n)], shared=512)
    yield case("reduce_shuffle", "reduce_shuffle", [4], [256], [source(real), zeros(4, np.float32), u32(n)])
    yield case("reduce_shuffle_u32", "reduce_shuffle", [3], [96], [source(whole), zeros(3, np.uint32), u32(n)])
    yield case("histogram", "histogram", [5], [192], [source(text), zeros(256, np.uint32), u32(n)])

    m, n, k = 33, 45, 29
    product = [source(floats(6, m * k)), source(floats(7, k * n)), zeros(m * n, np.float32), u32(m), u32(n), u32(k)]
    yield case("matmul_naive", "matmul_naive", [2, 5], [32, 8], product)
    yield case("matmul_tiled", "matmul_tiled", [3, 3], [16, 16], product)
    rows, columns = 45, 70
    matrix = floats(8, rows * columns)
    yield case("transpose", "transpose", [3, 2], [32, 8],
               [source(matrix), zeros(rows * columns, np.float32), u32(rows), u32(columns)])

    yield case("mandelbrot", "mandelbrot", [2, 6], [32, 8],
               [zeros(64 * 48, np.uint32), u32(64), u32(48), f32(-2.0), f32(-1.125), f32(0.046875), u32(200)])
    bodies = 200
    positions = floats(9, 4 * bodies)
    positions[3::4] = np.abs(positions[3::4])
    yield case("nbody", "nbody", [2], [128],
               [source(positions), result(floats(10, 4 * bodies)), zeros(4 * bodies, np.float32), u32(bodies),
                f32(0.01)])

    scalars = [value(np.uint8, 0x12), value(np.uint16, 0x3456), u32(0x789ABCDE),
               value(np.uint64, 2**64 - 1 - 0x1234), f32(1.5), value(np.float64, -2.25)]
    vectors = [u32(7), value(np.float32, [1, 2, 3, 4]), value(np.uint32, [5, 6])]
    fields = [value(np.float32, [0.5, -0.5, 8]), value(np.float64, 3.25), value(np.uint16, 77)]
    body = fields[0] + bytes(4) + fields[1] + fields[2] + bytes(6)
    table = integers(11, 64).tobytes()
    yield case("no_arguments", "signatures", [1], [1], [])
    yield case("mixed_scalars", "signatures", [1], [1], [zeros(27, np.uint8)] + scalars)
    yield case("vector_after_pointer", "signatures", [1], [1], [zeros(28, np.uint8)] + vectors)
    yield case("structure_by_value", "signatures", [1], [1], [zeros(23, np.uint8), body, value(np.uint8, 9)])
    yield case("large_structure", "signatures", [1], [1], [zeros(256, np.uint8), table])
    yield case("many_pointers", "signatures", [1], [1], [zeros(1, np.uint32) for _ in range(16)])


def fnv1a(parts):
    state = 0xCBF29CE484222325
    for byte in b"".join(parts):
        state = (state ^ byte) * 0x100000001B3 & (2**64 - 1)
    return state


def input_hash(arguments, constants):
    parts = [content for _, content in constants]
    return fnv1a(parts + [item.content if isinstance(item, Buffer) else item for item in arguments])


def run(module, name, grid, block, arguments, shared, constants):
    """Launches once and returns the bytes of every output."""
    for symbol, content in constants:
        pointer, size = driver.c_uint64(), driver.c_size_t()
        driver.check("cuModuleGetGlobal_v2", driver.byref(pointer), driver.byref(size), module, symbol.encode())
        driver.check("cuMemcpyHtoD_v2", pointer, content, len(content))
    buffers, parameters = [], []
    for item in arguments:
        if isinstance(item, Buffer):
            pointer = driver.upload(item.content)
            buffers.append((item, pointer))
            item = value(np.uint64, pointer)
        parameters.append(item)
    driver.launch(driver.function(module, name), grid, block, parameters, shared)
    driver.synchronize()
    outputs = [driver.download(pointer, len(item.content)) for item, pointer in buffers if item.output]
    for _, pointer in buffers:
        driver.free(pointer)
    return outputs


def main(folder):
    driver.start()
    modules, failures = {}, 0
    lines = [f"# {key}: {text}" for key, text in driver.describe().items()]
    for name, source_name, *rest in cases():
        try:
            if source_name not in modules:
                modules[source_name] = driver.load((KERNELS / f"{source_name}.ptx").read_text())
            outputs = run(modules[source_name], name, *rest)
        except driver.DriverError as error:
            failures += 1
            print(f"{name}: {error}", file=sys.stderr)
            continue
        lines.append(f"case {name} {input_hash(rest[2], rest[4]):016x} {len(outputs)}")
        lines.extend(output.hex() for output in outputs)
        print(f"{name}: recorded")
    (folder / "kernels.txt").write_text("\n".join(lines) + "\n")
    return failures


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
