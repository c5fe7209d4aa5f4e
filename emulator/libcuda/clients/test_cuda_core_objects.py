"""cuda.core's explicit graphs, memory pools and linker on the software device."""

import numpy as np
import pytest
from cuda.core import (
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.graph import GraphDefinition

N = 1000
CONFIG = LaunchConfig(grid=4, block=256)
ADD = """
extern "C" __global__ void add(int *x, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += value;
}
"""


@pytest.fixture
def device():
    device = Device()
    device.set_current()
    return device


def compiled(source, **options):
    return Program(source, code_type="c++", options=ProgramOptions(arch="compute_75", **options)).compile("ptx")


def host_array(count):
    """A buffer that host and device see, and the array in it."""
    buffer = LegacyPinnedMemoryResource().allocate(4 * count)
    array = np.from_dlpack(buffer).view(np.int32)
    array[:] = -1
    return buffer, array


def test_a_graph_with_memory_of_its_own(device):
    stream = device.create_stream()
    add = compiled(ADD).get_kernel("add")
    buffer, array = host_array(N)
    seen = []
    graph = GraphDefinition()
    memory = graph.allocate(4 * N)
    filled = memory.memset(memory.dptr, np.uint32(3), N)
    added = filled.launch(CONFIG, add, memory.dptr, np.int32(4), np.int32(N))
    copied = added.memcpy(buffer, memory.dptr, 4 * N)
    copied.callback(lambda: seen.append(int(array[-1])))
    copied.deallocate(memory.dptr)
    assert len(graph.nodes()) == 6
    replay = graph.instantiate()
    assert (array == -1).all(), "building runs nothing"
    for _ in range(2):
        replay.launch(stream)
    stream.sync()
    assert (array == 7).all()
    assert seen == [7, 7]


def test_branches_of_a_graph_meet(device):
    stream = device.create_stream()
    add = compiled(ADD).get_kernel("add")
    buffer, array = host_array(2 * N)
    array[:] = 0
    graph = GraphDefinition()
    address = int(buffer.handle)
    left = graph.launch(CONFIG, add, address, np.int32(1), np.int32(N))
    right = graph.launch(CONFIG, add, address + 4 * N, np.int32(2), np.int32(N))
    graph.join(left, right).launch(LaunchConfig(grid=8, block=256), add, address, np.int32(10), np.int32(2 * N))
    graph.instantiate().launch(stream)
    stream.sync()
    assert (array[:N] == 11).all() and (array[N:] == 12).all()


def test_a_pool_of_its_own(device):
    stream = device.create_stream()
    pool = DeviceMemoryResource(device, options=DeviceMemoryResourceOptions(max_size=64 << 20))
    buffer, array = host_array(N)
    add = compiled(ADD).get_kernel("add")
    memory = pool.allocate(4 * N, stream=stream)
    assert pool.attributes.used_mem_current >= 4 * N
    memory.fill(np.uint32(5), stream=stream)
    launch(stream, CONFIG, add, memory, np.int32(1), np.int32(N))
    memory.copy_to(buffer, stream=stream)
    stream.sync()
    assert (array == 6).all()
    memory.close(stream=stream)
    stream.sync()
    assert pool.attributes.used_mem_current == 0


TWICE = "extern __device__ int twice(int x) { return 2 * x; }"
CALL = """
extern __device__ int twice(int x);
extern "C" __global__ void call(int *x) { x[threadIdx.x] = twice(threadIdx.x); }
"""


def test_ptx_of_two_programs_is_linked(device):
    stream = device.create_stream()
    parts = [compiled(source, relocatable_device_code=True) for source in (CALL, TWICE)]
    linked = Linker(*parts, options=LinkerOptions(arch="sm_90")).link("cubin")
    buffer, array = host_array(32)
    launch(stream, LaunchConfig(grid=1, block=32), linked.get_kernel("call"), buffer)
    stream.sync()
    np.testing.assert_array_equal(array, 2 * np.arange(32))


def test_a_refused_input_of_a_link_is_named(device, capfd):
    part = compiled(CALL, relocatable_device_code=True)
    machine_code = Program(TWICE, code_type="c++", options=ProgramOptions(arch="sm_90", relocatable_device_code=True))
    with pytest.raises(Exception, match="NO_BINARY_FOR_GPU"):
        Linker(part, machine_code.compile("cubin"), options=LinkerOptions(arch="sm_90")).link("cubin")
    said = capfd.readouterr().err
    assert "of a link refused" in said and "nvidia-nvjitlink" in said
