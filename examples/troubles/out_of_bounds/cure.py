"""The kernel compares its index with the number of elements: `i < n`."""

import ctypes

from driver import alloc, call, kernel, launch, make_context, to_host

N = 1000
make_context()
out = alloc(4 * N)
launch(kernel("bugs.ptx", "off_by_one_fixed"), 4, 256, ctypes.c_uint64(out), ctypes.c_uint32(N))
call("cuCtxSynchronize")
host = (ctypes.c_float * N)()
to_host(host, out)
print("sum:", sum(host))
