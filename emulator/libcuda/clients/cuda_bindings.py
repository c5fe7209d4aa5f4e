"""cuda-python's driver bindings on the software device: compile, copy, launch, time, replay, fail."""

import ctypes

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = b"""
extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
N = 1000


def ok(answer):
    assert int(answer[0]) == 0, answer
    return answer[1] if len(answer) == 2 else answer[1:]


def compile_ptx(source):
    program = ok(nvrtc.nvrtcCreateProgram(source, b"axpy.cu", 0, [], []))
    ok(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_75"]))
    ptx = b" " * ok(nvrtc.nvrtcGetPTXSize(program))
    ok(nvrtc.nvrtcGetPTX(program, ptx))
    return ptx


ok(driver.cuInit(0))
device = ok(driver.cuDeviceGet(0))
assert b"Software CUDA device" in ok(driver.cuDeviceGetName(64, device))
context = ok(driver.cuCtxCreate(None, 0, device))
function = ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(compile_ptx(SOURCE))), b"axpy"))
stream = ok(driver.cuStreamCreate(0))
start, end = ok(driver.cuEventCreate(0)), ok(driver.cuEventCreate(0))
host_x, host_y = np.arange(N, dtype=np.float32), np.ones(N, dtype=np.float32)
x, y = (ok(driver.cuMemAllocAsync(host_x.nbytes, stream)) for _ in range(2))


def launch(count):
    arguments = ((2.0, x, y, count), (ctypes.c_float, None, None, ctypes.c_int))
    ok(driver.cuLaunchKernel(function, 8, 1, 1, 256, 1, 1, 0, stream, arguments, 0))


def result():
    host = np.zeros_like(host_y)
    ok(driver.cuMemcpyDtoHAsync(host.ctypes.data, y, host.nbytes, stream))
    ok(driver.cuStreamSynchronize(stream))
    return host


ok(driver.cuMemcpyHtoDAsync(x, host_x.ctypes.data, host_x.nbytes, stream))
ok(driver.cuMemcpyHtoDAsync(y, host_y.ctypes.data, host_y.nbytes, stream))
ok(driver.cuEventRecord(start, stream))
launch(N)
ok(driver.cuEventRecord(end, stream))
assert (result() == 2 * host_x + 1).all()
assert ok(driver.cuEventElapsedTime(start, end)) >= 0

ok(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
launch(N)
launch(N)
replay = ok(driver.cuGraphInstantiate(ok(driver.cuStreamEndCapture(stream)), 0))
for _ in range(3):
    ok(driver.cuGraphLaunch(replay, stream))
assert (result() == 14 * host_x + 1).all()

# One thread too many: the launch succeeds, the context is lost, a new one is not.
launch(N + 1)
assert driver.cuCtxSynchronize()[0] == driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
ok(driver.cuCtxDestroy(context))
context = ok(driver.cuCtxCreate(None, 0, device))
ok(driver.cuMemAlloc(16))
ok(driver.cuCtxDestroy(context))
print("cuda.bindings: ok")
