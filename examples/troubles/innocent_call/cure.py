"""A wait after the launch reports the fault before an unrelated call does. For debugging only. `CUDA_LAUNCH_BLOCKING=1`
waits after all launches of a program."""

import ctypes

from driver import CudaError, alloc, call, kernel, launch, make_context

N = 1000
make_context()
out = alloc(4 * N)
write = kernel("faults.ptx", "oob_write")
launch(write, 1, 32, ctypes.c_uint64(out), ctypes.c_uint64(N), ctypes.c_uint32(7))
try:
    call("cuCtxSynchronize")
except CudaError as error:
    print("oob_write failed:", error)
