"""An asynchronous copy without a wait: on a GPU the result is right or wrong by chance.

Checks: CUPRUM_EMULATOR_MODE=deferred
"""

import ctypes

from driver import alloc, call, kernel, launch, make_context

N = 1000
make_context()
out = alloc(4 * N)
launch(kernel("bugs.ptx", "off_by_one_fixed"), 4, 256, ctypes.c_uint64(out), ctypes.c_uint32(N))
# Page-locked memory, so that the copy runs concurrently with the host.
place = ctypes.c_void_p()
call("cuMemHostAlloc", ctypes.byref(place), ctypes.c_size_t(4 * N), 0)
host = (ctypes.c_float * N).from_address(place.value)
call("cuMemcpyDtoHAsync_v2", place, ctypes.c_uint64(out), ctypes.c_size_t(4 * N), None)
print("sum:", sum(host))
call("cuCtxSynchronize")
print("sum after the wait:", sum(host))
