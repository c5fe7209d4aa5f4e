#!/usr/bin/env python3
"""Runs random programs and prints hashes of their results, for `tests/data/goldens/random_programs.txt`.

    CUPRUM_RANDOM_PROGRAMS=FOLDER cargo test -p cuprum-engine --test engine -- --ignored write_random_programs
    python3 tests/gpu/random_programs.py FOLDER >tests/data/goldens/random_programs.txt

The second command runs on a machine with an NVIDIA GPU. The driver compiles without optimization.
"""

import ctypes
import multiprocessing
import pathlib
import sys
from ctypes import byref, c_size_t, c_uint64, c_void_p

import driver
from driver import check

RESULT_BYTES, SPACE_BYTES, MOST_THREADS = 184, 32, 960
OPTIMIZATION_LEVEL = 7
PROCESSES = 14


def fnv(content):
    value = 0xCBF29CE484222325
    for byte in content:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def run(paths):
    driver.start()
    numbers = [(k * 0x85EBCA6B & 0xFFFFFFFF) ^ (k << 20 & 0xFFFFFFFF) for k in range(2048)]
    out, space = (c_uint64(driver.allocate(size * MOST_THREADS)) for size in (RESULT_BYTES, SPACE_BYTES))
    given = c_uint64(driver.allocate(8192))
    check("cuMemcpyHtoD_v2", given, (ctypes.c_uint32 * 2048)(*numbers), c_size_t(8192))
    arguments = (c_void_p * 3)(*(ctypes.addressof(place) for place in (out, given, space)))
    lines = []
    for path in paths:
        seed, grid, width, height = map(int, path.stem.split("_"))
        text, module = path.read_bytes(), c_void_p()
        option, level = (ctypes.c_int * 1)(OPTIMIZATION_LEVEL), (c_void_p * 1)(0)
        check("cuModuleLoadDataEx", byref(module), text, 1, option, level)
        function, results = driver.function(module, "random"), []
        places = [(out, RESULT_BYTES), (space, SPACE_BYTES)]
        for place, size in places:
            check("cuMemsetD8_v2", place, 0, c_size_t(size * MOST_THREADS))
        check("cuLaunchKernel", function, grid, 1, 1, width, height, 1, 0, None, arguments, None)
        for place, size in places:
            content = ctypes.create_string_buffer(size * grid * width * height)
            check("cuMemcpyDtoH_v2", content, place, c_size_t(len(content)))
            results.append(content.raw)
        check("cuModuleUnload", module)
        lines.append((seed, f"{seed} {fnv(text):016x} {fnv(b''.join(results)):016x}"))
    return lines


def describe(_):
    driver.start()
    return driver.describe()


def main(folder):
    paths = sorted(pathlib.Path(folder).glob("*.ptx"))
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        about = pool.map(describe, [None])[0]
        lines = pool.map(run, [paths[first::PROCESSES] for first in range(PROCESSES)])
    print("# Seed, hash of the program, hash of its results.")
    print("#", ", ".join(f"{name} {value}" for name, value in about.items()))
    print("\n".join(line for _, line in sorted(line for part in lines for line in part)))


if __name__ == "__main__":
    main(*sys.argv[1:])
