"""A kernel goes wrong, nobody waits for it, and the next call is blamed: an innocent allocation."""

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
