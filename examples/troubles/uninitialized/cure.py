"""The program writes all elements before the kernel reads them.

Checks: CUPRUM_EMULATOR_INITCHECK=1
"""

import ctypes

from driver import alloc, call, kernel, launch, make_context, to_device, to_host

N = 100
make_context()
numbers, out = alloc(4 * (N + 1)), alloc(4 * N)
to_device(numbers, (ctypes.c_uint32 * (N + 1))(*range(N + 1)))
launch(
    kernel("bugs.ptx", "uninitialized_global"), 1, 128, ctypes.c_uint64(numbers), ctypes.c_uint64(out), ctypes.c_uint32(N)
)
call("cuCtxSynchronize")
host = (ctypes.c_uint32 * N)()
to_host(host, out)
print("the last element:", host[N - 1])
