"""Every error code becomes an exception, and the blocks have a size that the device accepts."""

import ctypes

from driver import CudaError, alloc, kernel, launch, make_context, to_device, to_host

N = 2048
make_context()
out = alloc(4 * N)
to_device(out, (ctypes.c_float * N)())
fill = kernel("bugs.ptx", "off_by_one_fixed")
try:
    launch(fill, 1, N, ctypes.c_uint64(out), ctypes.c_uint32(N))
except CudaError as error:
    print(error)
launch(fill, N // 256, 256, ctypes.c_uint64(out), ctypes.c_uint32(N))
host = (ctypes.c_float * N)()
to_host(host, out)
print("sum:", sum(host))
