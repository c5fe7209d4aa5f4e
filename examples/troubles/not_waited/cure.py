"""The host waits for the stream before it reads the result.

Checks: CUPRUM_EMULATOR_MODE=deferred
"""

import ctypes

from driver import alloc, call, kernel, launch, make_context

N = 1000
make_context()
out = alloc(4 * N)
launch(kernel("bugs.ptx", "off_by_one_fixed"), 4, 256, ctypes.c_uint64(out), ctypes.c_uint32(N))
place = ctypes.c_void_p()
call("cuMemHostAlloc", ctypes.byref(place), ctypes.c_size_t(4 * N), 0)
host = (ctypes.c_float * N).from_address(place.value)
call("cuMemcpyDtoHAsync_v2", place, ctypes.c_uint64(out), ctypes.c_size_t(4 * N), None)
call("cuStreamSynchronize", None)
print("sum:", sum(host))
