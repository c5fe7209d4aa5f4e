"""The driver API through ctypes, as scripts have it: no more than the failing programs of this folder need."""

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
    """Calls a function of the driver; an answer that is not success becomes an exception."""
    code = getattr(libcuda, name)(*arguments)
    if code != 0:
        raise CudaError(f"{name}: {name_of(code)}")


def make_context():
    """Initializes the driver and makes a context of device 0, which becomes current."""
    call("cuInit", 0)
    context = ctypes.c_void_p()
    call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
    return context


def alloc(bytes):
    """Memory of the device, as a number: its address."""
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(bytes))
    return address.value


def to_device(address, host):
    call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), host, ctypes.c_size_t(ctypes.sizeof(host)))


def to_host(host, address):
    call("cuMemcpyDtoH_v2", host, ctypes.c_uint64(address), ctypes.c_size_t(ctypes.sizeof(host)))


def kernel(file, name):
    """A kernel of the folder `kernels`."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), (KERNELS / file).read_bytes() + b"\0")
    call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    return function


def launch(function, grid, block, *arguments, check=True):
    """Starts a kernel. Arguments are ctypes values; `check=False` looks at no answer."""
    addresses = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(argument) for argument in arguments])
    start = call if check else lambda name, *rest: getattr(libcuda, name)(*rest)
    start("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, addresses, None)
