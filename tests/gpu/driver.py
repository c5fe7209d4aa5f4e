"""The CUDA driver API through ctypes: raw codes, no wrapper between us and what is measured.

Runs on a real driver, and on the emulator's libcuda.so.1 through LD_LIBRARY_PATH.
"""

import ctypes
import datetime
from ctypes import byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_ushort, c_void_p

cuda = ctypes.CDLL("libcuda.so.1")

# Functions with 64-bit integer parameters, or floats: ctypes must be told. All others take pointers and C ints.
SIGNATURES = {
    "cuMemAlloc_v2": [c_void_p, c_size_t],
    "cuMemAllocPitch_v2": [c_void_p, c_void_p, c_size_t, c_size_t, c_uint],
    "cuMemAllocHost_v2": [c_void_p, c_size_t],
    "cuMemHostAlloc": [c_void_p, c_size_t, c_uint],
    "cuMemHostRegister_v2": [c_void_p, c_size_t, c_uint],
    "cuMemAllocManaged": [c_void_p, c_size_t, c_uint],
    "cuMemAllocAsync": [c_void_p, c_size_t, c_void_p],
    "cuMemFree_v2": [c_uint64],
    "cuMemFreeAsync": [c_uint64, c_void_p],
    "cuMemcpy": [c_uint64, c_uint64, c_size_t],
    "cuMemcpyHtoD_v2": [c_uint64, c_void_p, c_size_t],
    "cuMemcpyDtoH_v2": [c_void_p, c_uint64, c_size_t],
    "cuMemcpyDtoD_v2": [c_uint64, c_uint64, c_size_t],
    "cuMemcpyHtoDAsync_v2": [c_uint64, c_void_p, c_size_t, c_void_p],
    "cuMemcpyDtoHAsync_v2": [c_void_p, c_uint64, c_size_t, c_void_p],
    "cuMemsetD8_v2": [c_uint64, c_ubyte, c_size_t],
    "cuMemsetD16_v2": [c_uint64, c_ushort, c_size_t],
    "cuMemsetD32_v2": [c_uint64, c_uint, c_size_t],
    "cuMemsetD8Async": [c_uint64, c_ubyte, c_size_t, c_void_p],
    "cuMemGetAddressRange_v2": [c_void_p, c_void_p, c_uint64],
    "cuPointerGetAttribute": [c_void_p, c_int, c_uint64],
    "cuFuncGetParamInfo": [c_void_p, c_size_t, c_void_p, c_void_p],
    "cuCtxSetLimit": [c_int, c_size_t],
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": [c_void_p, c_void_p, c_int, c_size_t],
    "cuLaunchKernel": [c_void_p] + [c_uint] * 7 + [c_void_p] * 3,
    "cuLaunchCooperativeKernel": [c_void_p] + [c_uint] * 7 + [c_void_p] * 2,
}
for _name, _types in SIGNATURES.items():
    if hasattr(cuda, _name):
        getattr(cuda, _name).argtypes = _types


class DriverError(Exception):
    def __init__(self, call, code):
        super().__init__(f"{call}: {name_of(code)} ({code})")
        self.code = code


def name_of(code):
    text = c_char_p()
    if cuda.cuGetErrorName(code, byref(text)) == 0 and text.value:
        return text.value.decode()
    return f"code {code}"


def call(name, *arguments):
    """The result code of one call, or the string "absent"."""
    function = getattr(cuda, name, None)
    return "absent" if function is None else function(*arguments)


def check(name, *arguments):
    code = call(name, *arguments)
    if code != 0:
        raise DriverError(name, code)


def start(ordinal=0):
    """Initializes the driver and makes a primary context current; returns device and context."""
    check("cuInit", 0)
    device, context = c_int(), c_void_p()
    check("cuDeviceGet", byref(device), ordinal)
    check("cuDevicePrimaryCtxRetain", byref(context), device)
    check("cuCtxSetCurrent", context)
    return device, context


def describe():
    """Lines that say on what the record was made."""
    version, device, name = c_int(), c_int(), ctypes.create_string_buffer(256)
    check("cuDriverGetVersion", byref(version))
    check("cuDeviceGet", byref(device), 0)
    check("cuDeviceGetName", name, 256, device)
    major, minor = c_int(), c_int()
    check("cuDeviceGetAttribute", byref(major), 75, device)
    check("cuDeviceGetAttribute", byref(minor), 76, device)
    try:
        with open("/proc/driver/nvidia/version") as file:
            kernel_driver = file.readline().strip()
    except OSError:
        kernel_driver = "unknown"
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "device": name.value.decode(),
        "compute capability": f"{major.value}.{minor.value}",
        "CUDA version of the driver": f"{version.value // 1000}.{version.value % 1000 // 10}",
        "kernel driver": kernel_driver,
    }


def load(ptx, log_bytes=8192):
    """Loads PTX text; the error of a refused module carries the JIT's log."""
    module, log = c_void_p(), ctypes.create_string_buffer(log_bytes)
    options = (c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
    values = (c_void_p * 2)(ctypes.addressof(log), log_bytes)
    code = cuda.cuModuleLoadDataEx(byref(module), ptx.encode(), 2, options, values)
    if code != 0:
        error = DriverError("cuModuleLoadDataEx", code)
        error.args = (f"{error.args[0]}: {log.value.decode(errors='replace')[:400]}",)
        raise error
    return module


def function(module, name):
    handle = c_void_p()
    check("cuModuleGetFunction", byref(handle), module, name.encode())
    return handle


def new_stream(flags=0):
    stream = c_void_p()
    check("cuStreamCreate", byref(stream), flags)
    return stream


def new_event(flags=0):
    event = c_void_p()
    check("cuEventCreate", byref(event), flags)
    return event


def allocate(size):
    pointer = c_uint64()
    check("cuMemAlloc_v2", byref(pointer), max(size, 1))
    return pointer.value


def upload(data):
    pointer = allocate(len(data))
    if data:
        check("cuMemcpyHtoD_v2", pointer, data, len(data))
    return pointer


def download(pointer, size):
    data = ctypes.create_string_buffer(size)
    if size:
        check("cuMemcpyDtoH_v2", data, pointer, size)
    return data.raw


def free(pointer):
    check("cuMemFree_v2", pointer)


def launch_code(handle, grid, block, arguments, shared=0, stream=None):
    """The code of one launch; arguments are the bytes of each parameter."""
    buffers = [ctypes.create_string_buffer(argument, len(argument)) for argument in arguments]
    pointers = (c_void_p * max(len(buffers), 1))(*[ctypes.addressof(buffer) for buffer in buffers])
    return cuda.cuLaunchKernel(handle, *grid, *block, shared, stream, pointers, None)


def launch(handle, grid, block, arguments, shared=0, stream=None):
    code = launch_code(handle, grid, block, arguments, shared, stream)
    if code != 0:
        raise DriverError("cuLaunchKernel", code)


def synchronize():
    check("cuCtxSynchronize")
