import sys

import cuda.core
import numpy as np
from cuda.core import Buffer, Device, EventOptions, LaunchConfig, ObjectCode, launch
from served import ALLOCATED_BYTES, COPIED_BYTES, ELEMENTS, KERNELS, serve

device = Device()
device.set_current()
stream = device.create_stream()
empty = ObjectCode.from_ptx(sys.argv[1]).get_kernel("empty")
saxpy = ObjectCode.from_ptx(sys.argv[2]).get_kernel("saxpy")
one, warp, all_of_it = LaunchConfig(grid=1, block=1), LaunchConfig(grid=1, block=32), LaunchConfig(grid=ELEMENTS // 256, block=256)


def of_host(array):
    """The memory of an array, which copies take as a buffer."""
    return Buffer.from_handle(array.ctypes.data, array.nbytes, owner=array)


def on_device(array):
    buffer = device.allocate(array.nbytes, stream=stream)
    buffer.copy_from(of_host(array), stream=stream)
    stream.sync()
    return buffer


x, y = on_device(np.ones(32, np.float32)), on_device(np.zeros(32, np.float32))
host = of_host(np.zeros(COPIED_BYTES, np.uint8))
there = on_device(np.zeros(COPIED_BYTES, np.uint8))
start, end = (device.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
host_x, host_y = np.ones(ELEMENTS, np.float32), np.ones(ELEMENTS, np.float32)
memory_x, memory_y = of_host(host_x), of_host(host_y)
builder = stream.create_graph_builder().begin_building("thread_local")
for _ in range(KERNELS):
    launch(builder, one, empty)
graph = builder.end_building().complete()


def launch_wait():
    launch(stream, one, empty)
    stream.sync()


def to_device():
    there.copy_from(host, stream=stream)
    stream.sync()


def to_host():
    there.copy_to(host, stream=stream)
    stream.sync()


def event():
    stream.record(start)
    stream.record(end)
    end.sync()
    return end - start


def whole_saxpy():
    on_x, on_y = (device.allocate(host_x.nbytes, stream=stream) for _ in range(2))
    on_x.copy_from(memory_x, stream=stream)
    on_y.copy_from(memory_y, stream=stream)
    launch(stream, all_of_it, saxpy, np.uint32(ELEMENTS), np.float32(2), on_x, on_y)
    on_y.copy_to(memory_y, stream=stream)
    on_x.close(stream)
    on_y.close(stream)
    stream.sync()


whole_saxpy()
assert (host_y == 3).all()
serve(
    f"cuda.core {cuda.core.__version__}",
    {
        "launch": lambda: launch(stream, one, empty),
        "launch_arguments": lambda: launch(stream, warp, saxpy, np.uint32(32), np.float32(2), x, y),
        "launch_wait": launch_wait,
        "to_device": to_device,
        "to_host": to_host,
        # Its memory is in the order of a stream if the device can.
        "alloc": None,
        "alloc_ordered": lambda: device.allocate(ALLOCATED_BYTES, stream=stream).close(stream),
        "event": event,
        "graph": lambda: graph.launch(stream),
        "saxpy": whole_saxpy,
    },
    stream.sync,
)
