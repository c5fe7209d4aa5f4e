"""The kernel has a barrier, `__syncthreads()`, between the write and the read.

Checks: CUPRUM_EMULATOR_RACECHECK=1
"""

import ctypes

from driver import alloc, call, kernel, launch, make_context, to_device, to_host

N = 64
make_context()
numbers, out = alloc(4 * N), alloc(4 * N)
to_device(numbers, (ctypes.c_uint32 * N)(*range(N)))
launch(kernel("bugs.ptx", "race_shared_fixed"), 1, N, ctypes.c_uint64(numbers), ctypes.c_uint64(out))
call("cuCtxSynchronize")
host = (ctypes.c_uint32 * N)()
to_host(host, out)
print("reversed:", list(host) == list(reversed(range(N))))
