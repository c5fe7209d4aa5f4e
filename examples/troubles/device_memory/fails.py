"""The host dereferences a device address, where no host memory is mapped."""

import ctypes

from driver import alloc, make_context

make_context()
address = alloc(4 * 1000)
print("the address is there", flush=True)
floats = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
print("the fifth element:", floats[4])
