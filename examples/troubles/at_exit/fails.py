"""The order of the end is nobody's: the context goes first, and what was made in it afterwards.

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
# Runs before the interpreter takes its modules apart, and `image` with them.
atexit.register(lambda: libcuda.cuCtxDestroy_v2(context))
image = Image(1 << 20)
print("the work is done")
