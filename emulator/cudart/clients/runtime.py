"""The runtime API through ctypes, as scripts have it."""

import ctypes
import os
import pathlib

cudart = ctypes.CDLL(os.environ.get("CUDART", "libcudart.so.13"))
cudart.cudaGetErrorName.restype = ctypes.c_char_p
cudart.cudaGetErrorString.restype = ctypes.c_char_p
KERNELS = pathlib.Path(__file__).resolve().parents[3] / "kernels"
TO_DEVICE, TO_HOST = 1, 2


class CudaError(Exception):
    pass


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


def name_of(code):
    return cudart.cudaGetErrorName(code).decode()


def call(name, *arguments):
    """Calls a function of the runtime; an answer that is not success becomes an exception."""
    code = getattr(cudart, name)(*arguments)
    if code != 0:
        raise CudaError(f"{name}: {name_of(code)}")


def alloc(bytes):
    address = ctypes.c_void_p()
    call("cudaMalloc", ctypes.byref(address), ctypes.c_size_t(bytes))
    return address


def to_device(address, host):
    call("cudaMemcpy", address, host, ctypes.c_size_t(ctypes.sizeof(host)), TO_DEVICE)


def to_host(host, address):
    call("cudaMemcpy", host, address, ctypes.c_size_t(ctypes.sizeof(host)), TO_HOST)


def kernel(file, name):
    """A kernel of the folder `kernels`."""
    library, found = ctypes.c_void_p(), ctypes.c_void_p()
    text = (KERNELS / file).read_bytes() + b"\0"
    call("cudaLibraryLoadData", ctypes.byref(library), text, None, None, 0, None, None, 0)
    call("cudaLibraryGetKernel", ctypes.byref(found), library, name.encode())
    return found


def launch(function, grid, block, *arguments, check=True):
    """Starts a kernel. Arguments are ctypes values; `check=False` looks at no answer."""
    addresses = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(argument) for argument in arguments])
    code = cudart.cudaLaunchKernel(function, Dim3(grid, 1, 1), Dim3(block, 1, 1), addresses, ctypes.c_size_t(0), None)
    if check and code != 0:
        raise CudaError(f"cudaLaunchKernel: {name_of(code)}")
