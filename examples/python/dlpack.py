"""Exchanges memory with NumPy, and on a GPU with CuPy and PyTorch if they are there, without a copy.

    cargo build -p cuprum-test-interop
    python3 examples/python/dlpack.py target/debug/libcuprum_test_interop.so

CUPRUM_DEVICE=gpu insists on a GPU. Needs NumPy 2.1 or newer. The library is that of tests/crates/interop.
"""

import ctypes
import sys

import numpy as np

CPU, CUDA, CUDA_HOST = 1, 2, 3

python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetName.restype = ctypes.c_char_p
python.PyCapsule_GetName.argtypes = [ctypes.py_object]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
# A capsule under destruction must not be counted again, so pass its address.
capsule_is = ctypes.PyDLL(None).PyCapsule_IsValid
capsule_is.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
pointer_of = ctypes.PyDLL(None).PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

cuprum = ctypes.CDLL(sys.argv[1])
for name in ["cuprum_pinned", "cuprum_device"]:
    getattr(cuprum, name).restype = ctypes.c_void_p
    getattr(cuprum, name).argtypes = [ctypes.c_size_t]
for name in ["unversioned", "free", "free_unversioned", "double", "double_unversioned"]:
    getattr(cuprum, "cuprum_" + name).argtypes = [ctypes.c_void_p]
cuprum.cuprum_unversioned.restype = ctypes.c_void_p

VERSIONED, UNVERSIONED = b"dltensor_versioned", b"dltensor"
# A capsule keeps no copy of its name.
USED = {VERSIONED: b"used_dltensor_versioned", UNVERSIONED: b"used_dltensor"}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def destroy(capsule):
    """Frees a tensor whose capsule was not consumed: a consumer renames the capsule."""
    for name, free in [(VERSIONED, cuprum.cuprum_free), (UNVERSIONED, cuprum.cuprum_free_unversioned)]:
        if capsule_is(capsule, name):
            free(pointer_of(capsule, name))


class Exported:
    """A tensor owned by Rust, for any from_dlpack."""

    def __init__(self, pointer, device):
        assert pointer, "the library says why"
        self.pointer, self.device = pointer, device

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        # No work is in flight on this memory, so any stream of the consumer is safe.
        assert self.pointer, "a tensor changes hands once"
        pointer, self.pointer = self.pointer, None
        if max_version and max_version[0] >= 1:
            return python.PyCapsule_New(pointer, VERSIONED, destroy)
        return python.PyCapsule_New(cuprum.cuprum_unversioned(pointer), UNVERSIONED, destroy)


def double(array, **options):
    """Lets Rust double the floats of another library's array in place."""
    capsule = array.__dlpack__(**options)
    name = python.PyCapsule_GetName(capsule)
    pointer = python.PyCapsule_GetPointer(capsule, name)
    # From here on, Rust frees the tensor.
    python.PyCapsule_SetName(capsule, USED[name])
    function = cuprum.cuprum_double if name == VERSIONED else cuprum.cuprum_double_unversioned
    return function(pointer) == 0


def with_numpy():
    shared = np.from_dlpack(Exported(cuprum.cuprum_pinned(1000), CUDA_HOST))
    assert (shared == np.arange(1000, dtype=np.float32)).all()

    for options in [{"max_version": (1, 0)}, {}]:
        ours = np.arange(1000, dtype=np.float32)
        assert double(ours, **options)
        assert (ours == 2 * np.arange(1000)).all()

    fixed = np.zeros(4, dtype=np.float32)
    fixed.flags.writeable = False
    assert not double(fixed, max_version=(1, 0)), "it must not be written"
    assert not double(np.zeros((4, 4), dtype=np.float32).T, max_version=(1, 0)), "rows are apart"
    assert not double(np.zeros(4), max_version=(1, 0)), "doubles are no floats"
    assert (fixed == 0).all()

    # A capsule without a consumer is also freed.
    for version in [None, (1, 0)]:
        Exported(cuprum.cuprum_pinned(8), CUDA_HOST).__dlpack__(max_version=version)
    print("NumPy: both ways, without a copy")


def with_gpu(name, library, on_device, to_host):
    shared = library.from_dlpack(Exported(cuprum.cuprum_device(1000), CUDA))
    assert (to_host(shared) == np.arange(1000, dtype=np.float32)).all()
    assert double(shared)
    assert (to_host(shared) == 2 * np.arange(1000)).all()
    theirs = on_device(np.arange(1000, dtype=np.float32))
    assert double(theirs)
    assert (to_host(theirs) == 2 * np.arange(1000)).all()
    print(f"{name}: both ways, without a copy")


def main():
    with_numpy()
    try:
        import cupy

        with_gpu("CuPy", cupy, cupy.asarray, cupy.asnumpy)
    except ImportError:
        print("CuPy: not there")
    try:
        import torch

        if torch.cuda.is_available():
            with_gpu("PyTorch", torch, lambda array: torch.from_numpy(array).cuda(), lambda tensor: tensor.cpu().numpy())
        else:
            print("PyTorch: no GPU")
    except ImportError:
        print("PyTorch: not there")


main()
