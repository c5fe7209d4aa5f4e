"""cuda.core on the software device, results compared with numpy."""

import numpy as np
import pytest
from cuda.core import (
    Device,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    StreamOptions,
    launch,
)

SOURCE = """
template <typename T>
__global__ void scale(T *x, T factor, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
"""
N = 1000
VALUES = np.arange(N, dtype=np.float32)
CONFIG = LaunchConfig(grid=4, block=256)


class Scale:
    """The kernel with its vector on the device and another that the host sees."""

    def __init__(self, device, stream):
        options = ProgramOptions(std="c++17", arch="compute_75")
        code = Program(SOURCE, code_type="c++", options=options).compile("ptx", name_expressions=("scale<float>",))
        self.kernel = code.get_kernel("scale<float>")
        self.device, self.stream = device, stream
        self.buffer = device.allocate(VALUES.nbytes, stream=stream)
        self.pinned = LegacyPinnedMemoryResource().allocate(VALUES.nbytes)
        self.host = np.from_dlpack(self.pinned).view(np.float32)
        self.host[:] = VALUES
        self.buffer.copy_from(self.pinned, stream=stream)

    def launch(self, where, factor):
        launch(where, CONFIG, self.kernel, self.buffer, np.float32(factor), np.uint64(N))

    def result(self):
        self.buffer.copy_to(self.pinned, stream=self.stream)
        self.stream.sync()
        return self.host


@pytest.fixture
def device():
    device = Device()
    device.set_current()
    assert device.name == "Software CUDA device"
    return device


@pytest.fixture
def scale(device):
    scale = Scale(device, device.create_stream())
    yield scale
    scale.stream.sync()
    scale.buffer.close(stream=scale.stream)
    scale.stream.sync()


def test_launch_and_read_back(scale):
    scale.launch(scale.stream, 3)
    np.testing.assert_array_equal(scale.result(), 3 * VALUES)


def test_machine_code_is_refused_with_advice(capfd):
    """`cubin` is what Program.compile makes for one GPU; the device runs PTX."""
    options = ProgramOptions(std="c++17", arch="sm_90")
    code = Program('extern "C" __global__ void empty() {}', code_type="c++", options=options).compile("cubin")
    with pytest.raises(Exception, match="CUDA_ERROR_NO_BINARY_FOR_GPU"):
        code.get_kernel("empty")
    assert "PTX" in capfd.readouterr().err


def test_events_order_streams_and_measure_time(device, scale):
    other = device.create_stream(options=StreamOptions(nonblocking=True))
    start = scale.stream.record(options=EventOptions(timing_enabled=True))
    scale.launch(scale.stream, 3)
    other.wait(scale.stream)
    scale.launch(other, 5)
    end = other.record(options=EventOptions(timing_enabled=True))
    scale.stream.wait(end)
    np.testing.assert_array_equal(scale.result(), 15 * VALUES)
    assert end.is_done
    assert end - start > 0


def test_capture_with_a_fork_and_replay(device, scale):
    builder = device.create_graph_builder()
    builder.begin_building()
    scale.launch(builder, 2)
    left, right = builder.split(2)
    scale.launch(left, 2)
    builder = type(builder).join(left, right)
    graph = builder.end_building().complete()
    np.testing.assert_array_equal(scale.result(), VALUES, "capturing runs nothing")
    for _ in range(3):
        graph.launch(scale.stream)
    np.testing.assert_array_equal(scale.result(), 64 * VALUES)
    graph.close()


STEP = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(
    cudaGraphConditionalHandle handle, unsigned int value);
extern "C" __global__ void step(int *count, int limit, cudaGraphConditionalHandle more) {
    ++*count;
    cudaGraphSetConditional(more, *count < limit);
}
"""


def test_a_loop_in_a_graph_ends_when_a_kernel_says_so(device):
    stream = device.create_stream()
    options = ProgramOptions(std="c++17", arch="compute_75")
    step = Program(STEP, code_type="c++", options=options).compile("ptx").get_kernel("step")
    count = LegacyPinnedMemoryResource().allocate(4)
    seen = np.from_dlpack(count).view(np.int32)
    seen[:] = 0
    builder = device.create_graph_builder()
    builder.begin_building()
    more = builder.create_condition(default_value=1)
    body = builder.while_loop(more)
    body.begin_building()
    launch(body, LaunchConfig(grid=1, block=1), step, count, np.int32(7), more)
    body.end_building()
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert seen[0] == 7


def test_fill_and_copy_between_buffers(device, scale):
    other = device.allocate(VALUES.nbytes, stream=scale.stream)
    other.fill(np.float32(1.5), stream=scale.stream)
    scale.buffer.copy_from(other, stream=scale.stream)
    np.testing.assert_array_equal(scale.result(), np.full(N, 1.5, dtype=np.float32))
    other.close(stream=scale.stream)
