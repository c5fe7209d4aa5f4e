"""cuda.core on the software device: allocate, compile, launch, events, graphs."""

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void scale(float *x, float factor, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
"""
N = 1000

device = Device()
device.set_current()
assert device.name == "Software CUDA device"
stream = device.create_stream()
options = ProgramOptions(std="c++17", arch="compute_75")
kernel = Program(SOURCE, code_type="c++", options=options).compile("ptx").get_kernel("scale")
config = LaunchConfig(grid=4, block=256)
values = np.arange(N, dtype=np.float32)
buffer = device.allocate(values.nbytes, stream=stream)


def copy_in(host):
    assert int(driver.cuMemcpyHtoD(int(buffer.handle), host.ctypes.data, host.nbytes)[0]) == 0


def copy_out():
    host = np.zeros_like(values)
    assert int(driver.cuMemcpyDtoH(host.ctypes.data, int(buffer.handle), host.nbytes)[0]) == 0
    return host


def push(where, factor):
    launch(where, config, kernel, buffer, np.float32(factor), np.uint64(N))


copy_in(values)
push(stream, 3)
done = stream.record()
done.sync()
assert done.is_done
assert (copy_out() == 3 * values).all()

copy_in(values)
builder = device.create_graph_builder()
builder.begin_building()
push(builder, 2)
push(builder, 2)
graph = builder.end_building().complete()
for _ in range(3):
    graph.launch(stream)
stream.sync()
assert (copy_out() == 64 * values).all()
buffer.close(stream=stream)
stream.sync()
print("cuda.core: ok")
