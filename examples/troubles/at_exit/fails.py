"""The interpreter destroys objects in no guaranteed order: here the context ends first, and its memory afterwards.

Checks: CUPRUM_EMULATOR_LEAKCHECK=1
"""

import atexit
import ctypes

from driver import alloc, libcuda, make_context, name_of


class Image:
    def __init__(self, bytes):
        self.address = alloc(bytes)

    def __del__(self):
        code = libcuda.cuMemFree_v2(ctypes.c_uint64(self.address))
        if code != 0:
            print("a clean-up operation failed:", name_of(code))


context = make_context()
# Runs before the interpreter destroys its modules, including `image`.
atexit.register(lambda: libcuda.cuCtxDestroy_v2(context))
image = Image(1 << 20)
print("the work is done")
