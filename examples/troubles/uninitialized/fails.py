"""A kernel reads an element that was never written. The result is some number, mostly 0 on a fresh device.

Checks: CUPRUM_EMULATOR_INITCHECK=1
"""

import ctypes

from driver import alloc, call, kernel, launch, make_context, to_device, to_host

N = 100
make_context()
numbers, out = alloc(4 * (N + 1)), alloc(4 * N)
to_device(numbers, (ctypes.c_uint32 * N)(*range(N)))
launch(
    kernel("bugs.ptx", "uninitialized_global"), 1, 128, ctypes.c_uint64(numbers), ctypes.c_uint64(out), ctypes.c_uint32(N)
)
call("cuCtxSynchronize")
host = (ctypes.c_uint32 * N)()
to_host(host, out)
print("the last element:", host[N - 1])
