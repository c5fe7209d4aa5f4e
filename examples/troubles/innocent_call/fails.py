"""A kernel faults and the program does not wait for it, so the next call, an allocation, reports the fault."""

import ctypes

from driver import CudaError, alloc, kernel, launch, make_context

N = 1000
make_context()
out = alloc(4 * N)
write = kernel("faults.ptx", "oob_write")
launch(write, 1, 32, ctypes.c_uint64(out), ctypes.c_uint64(N), ctypes.c_uint32(7))
try:
    more = alloc(16)
except CudaError as error:
    print(error)
