"""`weakref.finalize` frees each object when its last reference is dropped, or before the interpreter ends, newest first.
Each object keeps its context, the primary one, which all libraries of the process share.

Checks: CUPRUM_EMULATOR_LEAKCHECK=1
"""

import ctypes
import weakref

from driver import alloc, call


class Context:
    def __init__(self):
        call("cuInit", 0)
        handle = ctypes.c_void_p()
        call("cuDevicePrimaryCtxRetain", ctypes.byref(handle), 0)
        call("cuCtxSetCurrent", handle)
        weakref.finalize(self, call, "cuDevicePrimaryCtxRelease_v2", 0)


class Image:
    def __init__(self, context, bytes):
        self.context = context
        self.address = alloc(bytes)
        weakref.finalize(self, call, "cuMemFree_v2", ctypes.c_uint64(self.address))


image = Image(Context(), 1 << 20)
print("the work is done")
