"""The part of the driver API that the programs in this folder need, called through ctypes, as scripts usually do."""

import ctypes
import pathlib

libcuda = ctypes.CDLL("libcuda.so.1")
KERNELS = pathlib.Path(__file__).resolve().parent.parent.parent / "kernels"


class CudaError(Exception):
    pass


def name_of(code):
    name = ctypes.c_char_p()
    libcuda.cuGetErrorName(code, ctypes.byref(name))
    return name.value.decode()


def call(name, *arguments):
    """Calls a driver function, and raises an exception if it fails."""
    code = getattr(libcuda, name)(*arguments)
    if code != 0:
        raise CudaError(f"{name}: {name_of(code)}")


def make_context():
    """Initializes the driver and creates a context on device 0, which becomes current."""
    call("cuInit", 0)
    context = ctypes.c_void_p()
    call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
    return context


def alloc(bytes):
    """Allocates device memory and returns its address, a number."""
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(bytes))
    return address.value


def to_device(address, host):
    call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), host, ctypes.c_size_t(ctypes.sizeof(host)))


def to_host(host, address):
    call("cuMemcpyDtoH_v2", host, ctypes.c_uint64(address), ctypes.c_size_t(ctypes.sizeof(host)))


def kernel(file, name):
    """Loads a kernel from the folder `kernels`."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), (KERNELS / file).read_bytes() + b"\0")
    call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    return function


def launch(function, grid, block, *arguments, check=True):
    """Launches a kernel. Arguments are ctypes values; `check=False` ignores the result."""
    addresses = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(argument) for argument in arguments])
    start = call if check else lambda name, *rest: getattr(libcuda, name)(*rest)
    start("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, addresses, None)
