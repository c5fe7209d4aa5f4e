import sys

import cupy
import numpy as np
from served import ALLOCATED_BYTES, COPIED_BYTES, ELEMENTS, KERNELS, serve

empty = cupy.RawModule(path=sys.argv[1]).get_function("empty")
saxpy = cupy.RawModule(path=sys.argv[2]).get_function("saxpy")
stream = cupy.cuda.get_current_stream()
x, y = cupy.asarray(np.ones(32, np.float32)), cupy.asarray(np.zeros(32, np.float32))
host = np.zeros(COPIED_BYTES, np.uint8)
there = cupy.asarray(host)
start, end = cupy.cuda.Event(), cupy.cuda.Event()
host_x, host_y = np.ones(ELEMENTS, np.float32), np.ones(ELEMENTS, np.float32)
# The default stream cannot be captured.
captured = cupy.cuda.Stream(non_blocking=True)
graphs = []


def launch_graph():
    if not graphs:
        with captured:
            captured.begin_capture()
            for _ in range(KERNELS):
                empty((1,), (1,), ())
            graphs.append(captured.end_capture())
    graphs[0].launch(captured)


def launch_wait():
    empty((1,), (1,), ())
    stream.synchronize()


def event():
    start.record()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end)


def whole_saxpy():
    on_x, on_y = cupy.asarray(host_x), cupy.asarray(host_y)
    saxpy((ELEMENTS // 256,), (256,), (np.uint32(ELEMENTS), np.float32(2), on_x, on_y))
    on_y.get(out=host_y)


empty((1,), (1,), ())
whole_saxpy()
assert (host_y == 3).all()
serve(
    f"CuPy {cupy.__version__}",
    {
        "launch": lambda: empty((1,), (1,), ()),
        "launch_arguments": lambda: saxpy((1,), (32,), (np.uint32(32), np.float32(2), x, y)),
        "launch_wait": launch_wait,
        "to_device": lambda: there.set(host),
        "to_host": lambda: there.get(out=host),
        "alloc": lambda: cupy.cuda.Memory(ALLOCATED_BYTES),
        "alloc_ordered": lambda: cupy.cuda.malloc_async(ALLOCATED_BYTES),
        "event": event,
        "graph": launch_graph,
        "saxpy": whole_saxpy,
    },
    cupy.cuda.Device().synchronize,
)
