#!/usr/bin/env python3
"""Makes one mistake for compute-sanitizer to watch.

    python3 tests/gpu/sanitizer_target.py SOURCE KERNEL

SOURCE is `bugs` or `faults`, for a kernel of that file, or `host` for a mistake of the host.
"""

import pathlib
import sys

import driver

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"
COUNT = 128


def word(value):
    return value.to_bytes(4, "little")


def pointer(address):
    return address.to_bytes(8, "little")


def arguments_of(kernel):
    """Buffers of 128 elements; what the uninitialized-read kernels get has one more, which nothing writes."""
    ones = word(1) * COUNT
    full, output = pointer(driver.upload(ones)), pointer(driver.upload(bytes(4 * COUNT)))
    longer = driver.allocate(4 * (COUNT + 1))
    driver.check("cuMemcpyHtoD_v2", longer, ones, 4 * COUNT)

    def zeros():
        return pointer(driver.upload(bytes(4 * COUNT)))

    return {
        "race_shared": [full, output],
        "race_message": [zeros(), zeros(), output],
        "race_last_block": [full, zeros(), zeros(), output],
        "race_lock": [zeros(), output],
        "race_grid": [zeros(), zeros(), output],
        "uninitialized_global": [pointer(longer), output, word(COUNT)],
        "uninitialized_local": [output, word(32)],
        "exited_barrier": [output, word(40)],
        "off_by_one": [output, word(COUNT)],
        "shared_overflow": [output, word(1)],
        "oob_write": [output, COUNT.to_bytes(8, "little"), word(1)],
        "oob_read": [full, COUNT.to_bytes(8, "little"), output],
        "assert_below": [full, word(COUNT), word(1)],
        "trap_if": [full],
        "null_write": [],
    }.get(kernel.removesuffix("_fixed"), [output])


def run(source, kernel, arguments=None):
    handle = driver.function(driver.load((KERNELS / f"{source}.ptx").read_text()), kernel)
    blocks = 3 if kernel.startswith("off_by_one") else 2
    arguments = arguments_of(kernel) if arguments is None else arguments
    driver.launch(handle, (blocks, 1, 1), (64, 1, 1), arguments)
    driver.synchronize()


def freed(fixed):
    """Writes to a buffer that was freed, or has yet to be."""
    buffer = driver.upload(bytes(4 * COUNT))
    if not fixed:
        driver.free(buffer)
    run("faults", "oob_write", [pointer(buffer), (0).to_bytes(8, "little"), word(1)])
    if fixed:
        driver.free(buffer)


def leaked(fixed):
    """Ends the context with a buffer still allocated, or without."""
    buffer = driver.upload(bytes(4 * COUNT))
    run("bugs", "race_global_fixed", [pointer(buffer)])
    if fixed:
        driver.free(buffer)
    driver.check("cuDevicePrimaryCtxReset_v2", 0)


# Mistakes of the host rather than of a kernel.
HOST = {"freed": freed, "leaked": leaked}


def main(source, kernel):
    driver.start()
    try:
        if source == "host":
            HOST[kernel.removesuffix("_fixed")](kernel.endswith("_fixed"))
        else:
            run(source, kernel)
    except driver.DriverError as error:
        print(f"result: {error}")
    else:
        print("result: success")


if __name__ == "__main__":
    main(*sys.argv[1:])
