"""What becomes of a capture when a call on its stream fails, or is one that a graph cannot hold."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import driver
from driver import call, check, new_event, new_stream
from probes import fact, probe

KERNEL = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) { .reg .b64 %x; .reg .b32 %r;
ld.param.u64 %x, [p]; mov.u32 %r, 7; st.global.u32 [%x], %r; ret; }
"""
NOWHERE = c_uint64(16)


class Spare:
    """What the calls of the table need, made before any capture."""

    def __init__(self):
        self.memory, self.managed = driver.allocate(4096), c_uint64()
        check("cuMemAllocManaged", byref(self.managed), c_size_t(4096), 1)
        self.kernel = driver.function(driver.load(KERNEL), "k")
        self.argument = c_uint64(self.memory)
        self.arguments = (c_void_p * 1)(ctypes.addressof(self.argument))
        self.never, self.recorded, self.other = new_event(2), new_event(2), new_stream(1)
        check("cuEventRecord", self.recorded, self.other)
        self.number, self.wide, self.handle = c_int(), c_uint64(), c_void_p()
        driver.synchronize()

    def launch(self, stream, grid=(1, 1, 1), block=(1, 1, 1), shared=0, name="cuLaunchKernel"):
        end = [self.arguments] + ([None] if name == "cuLaunchKernel" else [])
        return call(name, self.kernel, *grid, *block, c_uint(shared), stream, *end)

    def joined(self):
        """Returns a stream that takes part in the capture."""
        later, point = new_stream(1), new_event(2)
        check("cuEventRecord", point, self.capturing)
        check("cuStreamWaitEvent", later, point, 0)
        return later


CALLS = {
    "cuLaunchKernel": lambda s, t: s.launch(t),
    "cuLaunchKernel 0 blocks": lambda s, t: s.launch(t, grid=(0, 1, 1)),
    "cuLaunchKernel 0 threads": lambda s, t: s.launch(t, block=(1, 0, 1)),
    "cuLaunchKernel 2048 threads": lambda s, t: s.launch(t, block=(2048, 1, 1)),
    "cuLaunchKernel too much shared memory": lambda s, t: s.launch(t, shared=1 << 20),
    "cuLaunchKernel 0 blocks in a joined stream": lambda s, t: s.launch(s.joined(), grid=(0, 1, 1)),
    "cuLaunchKernel of null": lambda s, t: call("cuLaunchKernel", None, *[1] * 6, 0, t, s.arguments, None),
    "cuLaunchKernel no parameters": lambda s, t: call("cuLaunchKernel", s.kernel, *[1] * 6, 0, t, None, None),
    "cuLaunchCooperativeKernel 0 blocks": lambda s, t: s.launch(t, (0, 1, 1), name="cuLaunchCooperativeKernel"),
    "cuLaunchCooperativeKernel 1048576 blocks": lambda s, t: s.launch(t, (1 << 20, 1, 1), name="cuLaunchCooperativeKernel"),
    "cuMemcpyDtoDAsync_v2 from nowhere": lambda s, t: call("cuMemcpyDtoDAsync_v2", s.memory, NOWHERE, c_size_t(16), t),
    "cuMemsetD8Async of nowhere": lambda s, t: call("cuMemsetD8Async", NOWHERE, 0, c_size_t(16), t),
    "cuMemsetD32Async of nowhere": lambda s, t: call("cuMemsetD32Async", NOWHERE, 0, c_size_t(4), t),
    "cuMemsetD32Async misaligned": lambda s, t: call("cuMemsetD32Async", s.memory + 1, 0, c_size_t(4), t),
    "cuStreamWriteValue32_v2 to nowhere": lambda s, t: call("cuStreamWriteValue32_v2", t, NOWHERE, 1, 0),
    "cuStreamWriteValue32_v2 misaligned": lambda s, t: call("cuStreamWriteValue32_v2", t, s.memory + 2, 1, 0),
    "cuLaunchHostFunc of null": lambda s, t: call("cuLaunchHostFunc", t, None, None),
    "cuEventRecord of null": lambda s, t: call("cuEventRecord", None, t),
    "cuStreamWaitEvent never recorded": lambda s, t: call("cuStreamWaitEvent", t, s.never, 0),
    "cuStreamWaitEvent never recorded, external": lambda s, t: call("cuStreamWaitEvent", t, s.never, 1),
    "cuStreamWaitEvent recorded before": lambda s, t: call("cuStreamWaitEvent", t, s.recorded, 0),
    "cuStreamWaitEvent recorded before, external": lambda s, t: call("cuStreamWaitEvent", t, s.recorded, 1),
    "cuStreamWaitEvent null": lambda s, t: call("cuStreamWaitEvent", t, None, 0),
    "cuStreamWaitEvent null, unknown flags": lambda s, t: call("cuStreamWaitEvent", t, None, 77),
    "cuStreamGetFlags": lambda s, t: call("cuStreamGetFlags", t, byref(s.number)),
    "cuStreamGetFlags to null": lambda s, t: call("cuStreamGetFlags", t, None),
    "cuStreamGetId": lambda s, t: call("cuStreamGetId", t, byref(s.wide)),
    "cuStreamGetDevice": lambda s, t: call("cuStreamGetDevice", t, byref(s.number)),
    "cuStreamGetPriority": lambda s, t: call("cuStreamGetPriority", t, byref(s.number)),
    "cuStreamGetCtx": lambda s, t: call("cuStreamGetCtx", t, byref(s.handle)),
    "cuStreamCopyAttributes": lambda s, t: call("cuStreamCopyAttributes", t, s.other),
    "cuMemPrefetchAsync": lambda s, t: call("cuMemPrefetchAsync", s.managed, c_size_t(4096), 0, t),
    "cuMemPrefetchAsync plain memory": lambda s, t: call("cuMemPrefetchAsync", c_uint64(s.memory), c_size_t(16), 0, t),
    "cuStreamAttachMemAsync": lambda s, t: call("cuStreamAttachMemAsync", t, s.managed, c_size_t(0), 4),
    "cuGraphLaunch null": lambda s, t: call("cuGraphLaunch", None, t),
    "cuGraphUpload null": lambda s, t: call("cuGraphUpload", None, t),
    "cuMemAllocAsync 0 bytes": lambda s, t: call("cuMemAllocAsync", byref(s.wide), c_size_t(0), t),
    "cuMemFreeAsync of nowhere": lambda s, t: call("cuMemFreeAsync", NOWHERE, t),
}


@probe
def calls_on_a_capturing_stream():
    """A fact says the call's code, what became of the capture (1 is active, 2 invalid), and the code of its end."""
    driver.start()
    spare, status, graph = Spare(), c_int(), c_void_p()
    for label, act in CALLS.items():
        spare.capturing = new_stream(1)
        check("cuStreamBeginCapture_v2", spare.capturing, 2)
        code = act(spare, spare.capturing)
        check("cuStreamIsCapturing", spare.capturing, byref(status))
        end = call("cuStreamEndCapture", spare.capturing, byref(graph))
        fact(label, f"{code} {status.value} {end}")
