#!/usr/bin/env python3
"""Launches one kernel of kernels/bugs.ptx or kernels/faults.ptx for compute-sanitizer to watch.

    python3 tests/gpu/sanitizer_target.py SOURCE KERNEL
"""

import pathlib
import sys

import driver

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"
COUNT = 128


def arguments_of(kernel):
    """Buffers of 128 elements; what the uninitialised-read kernels get has one more, which nothing writes."""
    ones = (1).to_bytes(4, "little")
    full = driver.upload(ones * COUNT).to_bytes(8, "little")
    output = driver.upload(bytes(4 * COUNT)).to_bytes(8, "little")
    longer = driver.allocate(4 * (COUNT + 1))
    driver.check("cuMemcpyHtoD_v2", longer, ones * COUNT, 4 * COUNT)
    count, past = COUNT.to_bytes(4, "little"), COUNT.to_bytes(8, "little")
    return {
        "race_shared": [full, output],
        "uninitialized_global": [longer.to_bytes(8, "little"), output, count],
        "off_by_one": [output, count],
        "oob_write": [output, past, ones],
        "oob_read": [full, past, output],
        "assert_below": [full, count, ones],
        "trap_if": [full],
        "null_write": [],
    }.get(kernel.removesuffix("_fixed"), [output])


def main(source, kernel):
    driver.start()
    handle = driver.function(driver.load((KERNELS / f"{source}.ptx").read_text()), kernel)
    blocks = 3 if kernel.startswith("off_by_one") else 2
    try:
        driver.launch(handle, (blocks, 1, 1), (64, 1, 1), arguments_of(kernel))
        driver.synchronize()
    except driver.DriverError as error:
        print(f"result: {error}")
    else:
        print("result: success")


if __name__ == "__main__":
    main(*sys.argv[1:])
