"""cuda-python's driver bindings on the software device, results compared with numpy."""

import ctypes

import numpy as np
import pytest
from cuda.bindings import driver, nvrtc

SOURCE = b"""
extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
N = 1000
X = np.arange(N, dtype=np.float32)
Y = np.sqrt(X)


def ok(answer):
    assert answer[0] in (driver.CUresult.CUDA_SUCCESS, nvrtc.nvrtcResult.NVRTC_SUCCESS), answer
    return answer[1] if len(answer) == 2 else answer[1:]


def axpy(times=1):
    """What `times` launches with a = 2 make of Y, rounded as the device rounds (one fused operation each)."""
    y = Y
    for _ in range(times):
        y = (np.float64(2) * X + y).astype(np.float32)
    return y


@pytest.fixture(scope="module")
def ptx():
    program = ok(nvrtc.nvrtcCreateProgram(SOURCE, b"axpy.cu", 0, [], []))
    ok(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_75"]))
    ptx = b" " * ok(nvrtc.nvrtcGetPTXSize(program))
    ok(nvrtc.nvrtcGetPTX(program, ptx))
    ok(nvrtc.nvrtcDestroyProgram(program))
    return ptx


@pytest.fixture
def context():
    ok(driver.cuInit(0))
    context = ok(driver.cuCtxCreate(None, 0, ok(driver.cuDeviceGet(0))))
    yield context
    ok(driver.cuCtxDestroy(context))


class Axpy:
    """The kernel with its two vectors on the device."""

    def __init__(self, ptx):
        self.function = ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(ptx)), b"axpy"))
        self.x, self.y = ok(driver.cuMemAlloc(X.nbytes)), ok(driver.cuMemAlloc(Y.nbytes))
        ok(driver.cuMemcpyHtoD(self.x, X.ctypes.data, X.nbytes))
        ok(driver.cuMemcpyHtoD(self.y, Y.ctypes.data, Y.nbytes))
        # A copy from pageable memory may still be under way on its stream, for which other streams do not wait.
        ok(driver.cuStreamSynchronize(0))

    def arguments(self, count=N):
        return (2.0, self.x, self.y, count), (ctypes.c_float, None, None, ctypes.c_int)

    def launch(self, stream, count=N):
        ok(driver.cuLaunchKernel(self.function, 8, 1, 1, 128, 1, 1, 0, stream, self.arguments(count), 0))

    def result(self, stream=0):
        host = np.zeros_like(Y)
        ok(driver.cuMemcpyDtoHAsync(host.ctypes.data, self.y, host.nbytes, stream))
        ok(driver.cuStreamSynchronize(stream))
        return host


@pytest.fixture
def kernel(context, ptx):
    return Axpy(ptx)


def test_device_says_that_it_is_software(context):
    device = ok(driver.cuCtxGetDevice())
    assert ok(driver.cuDeviceGetName(64, device)).startswith(b"Software CUDA device")
    assert ok(driver.cuDriverGetVersion()) == 13050


def test_launch_and_read_back(kernel):
    kernel.launch(0)
    np.testing.assert_array_equal(kernel.result(), axpy())


def test_memory_in_the_order_of_a_stream(context):
    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    host = np.zeros(N, dtype=np.uint32)
    memory = ok(driver.cuMemAllocAsync(host.nbytes, stream))
    ok(driver.cuMemsetD32Async(memory, 0xDEADBEEF, N, stream))
    ok(driver.cuMemcpyDtoHAsync(host.ctypes.data, memory, host.nbytes, stream))
    ok(driver.cuMemFreeAsync(memory, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert (host == 0xDEADBEEF).all()
    assert driver.cuMemcpyDtoH(host.ctypes.data, memory, host.nbytes)[0] != driver.CUresult.CUDA_SUCCESS


def test_streams_wait_for_events(kernel):
    first, second = (ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(2))
    turn = ok(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
    for _ in range(5):
        for mine, other in ((first, second), (second, first)):
            kernel.launch(mine)
            ok(driver.cuEventRecord(turn, mine))
            ok(driver.cuStreamWaitEvent(other, turn, 0))
    np.testing.assert_array_equal(kernel.result(first), axpy(10))


def test_events_complete_in_order_and_measure_time(kernel):
    stream = ok(driver.cuStreamCreate(0))
    start, end = ok(driver.cuEventCreate(0)), ok(driver.cuEventCreate(0))
    ok(driver.cuEventRecord(start, stream))
    kernel.launch(stream)
    ok(driver.cuEventRecord(end, stream))
    ok(driver.cuEventSynchronize(end))
    assert driver.cuEventQuery(start)[0] == driver.CUresult.CUDA_SUCCESS
    assert ok(driver.cuEventElapsedTime(start, end)) > 0


def test_host_function_runs_between_two_launches(kernel):
    stream = ok(driver.cuStreamCreate(0))
    seen = np.zeros_like(Y)
    peek = ok(driver.cuMemHostAlloc(Y.nbytes, driver.CU_MEMHOSTALLOC_DEVICEMAP))
    view = np.ctypeslib.as_array(ctypes.cast(peek, ctypes.POINTER(ctypes.c_float)), (N,))

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def keep(_):
        seen[:] = view

    kernel.launch(stream)
    ok(driver.cuMemcpyDtoHAsync(peek, kernel.y, Y.nbytes, stream))
    ok(driver.cuLaunchHostFunc(stream, driver.CUhostFn(ctypes.cast(keep, ctypes.c_void_p).value), 0))
    kernel.launch(stream)
    np.testing.assert_array_equal(kernel.result(stream), axpy(2))
    np.testing.assert_array_equal(seen, axpy(1))


def test_capture_of_two_streams_and_replay(kernel):
    first, second = (ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(2))
    fork, join = ok(driver.cuEventCreate(0)), ok(driver.cuEventCreate(0))
    ok(driver.cuStreamBeginCapture(first, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    kernel.launch(first)
    ok(driver.cuEventRecord(fork, first))
    ok(driver.cuStreamWaitEvent(second, fork, 0))
    kernel.launch(second)
    ok(driver.cuEventRecord(join, second))
    ok(driver.cuStreamWaitEvent(first, join, 0))
    kernel.launch(first)
    graph = ok(driver.cuStreamEndCapture(first))
    np.testing.assert_array_equal(kernel.result(first), Y, "capturing runs nothing")

    _, count = ok(driver.cuGraphGetNodes(graph))
    assert count == 3
    replay = ok(driver.cuGraphInstantiate(graph, 0))
    for _ in range(4):
        ok(driver.cuGraphLaunch(replay, first))
    np.testing.assert_array_equal(kernel.result(first), axpy(12))
    ok(driver.cuGraphExecDestroy(replay))
    ok(driver.cuGraphDestroy(graph))


def test_graph_built_node_by_node(kernel, context):
    graph = ok(driver.cuGraphCreate(0))
    clear = driver.CUDA_MEMSET_NODE_PARAMS()
    clear.dst, clear.value, clear.elementSize, clear.width, clear.height = kernel.y, 0, 4, N, 1
    cleared = ok(driver.cuGraphAddMemsetNode(graph, [], 0, clear, context))
    launch = driver.CUDA_KERNEL_NODE_PARAMS()
    launch.func, launch.kernelParams = kernel.function, kernel.arguments()
    launch.gridDimX, launch.gridDimY, launch.gridDimZ = 8, 1, 1
    launch.blockDimX, launch.blockDimY, launch.blockDimZ = 128, 1, 1
    launched = ok(driver.cuGraphAddKernelNode(graph, [cleared], 1, launch))
    again = ok(driver.cuGraphAddKernelNode(graph, [launched], 1, launch))
    replay = ok(driver.cuGraphInstantiate(graph, 0))
    ok(driver.cuGraphLaunch(replay, 0))
    np.testing.assert_array_equal(kernel.result(), 4 * X)

    # In the instantiated graph alone, the second launch becomes an empty one.
    launch.kernelParams = kernel.arguments(0)
    ok(driver.cuGraphExecKernelNodeSetParams(replay, again, launch))
    ok(driver.cuGraphLaunch(replay, 0))
    np.testing.assert_array_equal(kernel.result(), 2 * X)


def test_a_fault_is_reported_and_ends_with_its_context(ptx, capfd):
    ok(driver.cuInit(0))
    device = ok(driver.cuDeviceGet(0))
    context = ok(driver.cuCtxCreate(None, 0, device))
    Axpy(ptx).launch(0, N + 1)
    assert driver.cuCtxSynchronize()[0] == driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    assert "out-of-bounds access in kernel `axpy`" in capfd.readouterr().err
    ok(driver.cuCtxDestroy(context))
    context = ok(driver.cuCtxCreate(None, 0, device))
    kernel = Axpy(ptx)
    kernel.launch(0)
    np.testing.assert_array_equal(kernel.result(), axpy())
    ok(driver.cuCtxDestroy(context))
