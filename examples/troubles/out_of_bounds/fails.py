"""A kernel writes one element too many, with `i <= n` instead of `i < n`. A GPU often does not report it."""

import ctypes

from driver import alloc, call, kernel, launch, make_context, to_host

N = 1000
make_context()
out = alloc(4 * N)
off_by_one = kernel("bugs.ptx", "off_by_one")
launch(off_by_one, 4, 256, ctypes.c_uint64(out), ctypes.c_uint32(N))
call("cuCtxSynchronize")
host = (ctypes.c_float * N)()
to_host(host, out)
print("sum:", sum(host))
