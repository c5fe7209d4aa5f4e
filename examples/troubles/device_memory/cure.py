"""The host copies elements before it reads them. With declared types, ctypes does not cut an address to 32 bits."""

import ctypes

from driver import alloc, libcuda, make_context, to_device

copy = libcuda.cuMemcpyDtoH_v2
copy.restype = ctypes.c_int
copy.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]

make_context()
address = alloc(4 * 1000)
to_device(address, (ctypes.c_float * 1000)(*range(1000)))
floats = (ctypes.c_float * 1000)()
assert copy(floats, address, ctypes.sizeof(floats)) == 0
print("the fifth element:", floats[4])
