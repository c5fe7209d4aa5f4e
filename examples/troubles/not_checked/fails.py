"""The program ignores the result of the launch. The kernel never ran, so the copy returns the old contents."""

import ctypes

from driver import alloc, kernel, launch, make_context, to_device, to_host

N = 2048
make_context()
out = alloc(4 * N)
to_device(out, (ctypes.c_float * N)())
# No device accepts blocks of 2048 threads.
launch(kernel("bugs.ptx", "off_by_one_fixed"), 1, N, ctypes.c_uint64(out), ctypes.c_uint32(N), check=False)
host = (ctypes.c_float * N)()
to_host(host, out)
print("sum:", sum(host))
