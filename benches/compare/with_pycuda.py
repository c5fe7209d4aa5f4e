import sys

import numpy as np
import pycuda
import pycuda.autoprimaryctx
import pycuda.driver as drv
from served import ALLOCATED_BYTES, COPIED_BYTES, ELEMENTS, serve

empty = drv.module_from_file(sys.argv[1]).get_function("empty")
saxpy = drv.module_from_file(sys.argv[2]).get_function("saxpy")
stream = drv.Stream()
x, y = drv.to_device(np.ones(32, np.float32)), drv.to_device(np.zeros(32, np.float32))
host = np.zeros(COPIED_BYTES, np.uint8)
there = drv.to_device(host)
start, end = drv.Event(), drv.Event()
host_x, host_y = np.ones(ELEMENTS, np.float32), np.ones(ELEMENTS, np.float32)


def launch():
    empty(block=(1, 1, 1), grid=(1, 1), stream=stream)


def launch_arguments():
    saxpy(np.uint32(32), np.float32(2), x, y, block=(32, 1, 1), grid=(1, 1), stream=stream)


def launch_wait():
    empty(block=(1, 1, 1), grid=(1, 1), stream=stream)
    stream.synchronize()


def event():
    start.record(stream)
    end.record(stream)
    end.synchronize()
    end.time_since(start)


def whole_saxpy():
    n = np.uint32(ELEMENTS)
    saxpy(n, np.float32(2), drv.In(host_x), drv.InOut(host_y), block=(256, 1, 1), grid=(ELEMENTS // 256, 1))


whole_saxpy()
assert (host_y == 3).all()
serve(
    f"PyCUDA {pycuda.VERSION_TEXT}",
    {
        "launch": launch,
        "launch_arguments": launch_arguments,
        "launch_wait": launch_wait,
        "to_device": lambda: drv.memcpy_htod(there, host),
        "to_host": lambda: drv.memcpy_dtoh(host, there),
        "alloc": lambda: drv.mem_alloc(ALLOCATED_BYTES),
        "alloc_ordered": None,
        "event": event,
        "graph": None,
        "saxpy": whole_saxpy,
    },
    drv.Context.synchronize,
)
