"""What returns while a kernel still runs, and what reads see that nothing orders; probes.py says how probes work.

A kernel spins until the host says so, so that no answer depends on how fast the device is. A call that waits for the
kernel would wait for ever: a timer ends the kernel then.
"""

import ctypes
import threading
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import driver
from driver import call, check
from probes import fact, family, probe

MIB = 1 << 20
# How long a call may take that does not wait for the kernel.
PATIENCE = 0.25
SPIN = """.version 7.7
.target sm_75
.address_size 64
// Returns when the host has written something else than zero.
.visible .entry spin(.param .u64 flag) {
    .reg .b64 %f; .reg .b32 %v; .reg .pred %p;
    ld.param.u64 %f, [flag];
AGAIN:
    ld.volatile.global.u32 %v, [%f]; setp.eq.u32 %p, %v, 0; @%p bra AGAIN;
    ret;
}
.visible .entry nothing() { ret; }
.global .u32 variable;
"""


class Rows(ctypes.Structure):
    """CUDA_MEMCPY2D."""
    _fields_ = [(name, kind) for side in ("src", "dst") for name, kind in (
        (side + "X", c_size_t), (side + "Y", c_size_t), (side + "Type", c_int), (side + "Host", c_void_p),
        (side + "Device", c_uint64), (side + "Array", c_void_p), (side + "Pitch", c_size_t))]
    _fields_ += [("width", c_size_t), ("height", c_size_t)]


class ArrayShape(ctypes.Structure):
    """CUDA_ARRAY_DESCRIPTOR."""
    _fields_ = [("width", c_size_t), ("height", c_size_t), ("format", c_int), ("channels", ctypes.c_uint)]


class Spinner:
    """A kernel that spins on a stream, and one of everything for calls beside it."""

    def __init__(self, stream=None):
        self.stream, self.out, self.size, self.number = stream, c_uint64(), c_size_t(), c_int()
        self.flag = self.host_memory(4096)
        ctypes.memset(self.flag, 0, 4096)
        self.module, self.buffers = driver.load(SPIN), []
        self.spin, self.nothing = (driver.function(self.module, name) for name in ("spin", "nothing"))
        self.other = new_stream(1)
        self.memory, self.second = driver.allocate(2 * MIB), driver.allocate(2 * MIB)
        self.pinned, self.pageable = self.host_memory(2 * MIB), ctypes.create_string_buffer(2 * MIB)
        self.managed = c_uint64()
        check("cuMemAllocManaged", byref(self.managed), 4096, 1)
        check("cuMemsetD8_v2", self.memory, 0, 2 * MIB)
        driver.launch(self.nothing, (1, 1, 1), (1, 1, 1), [], 0, self.stream)
        driver.synchronize()

    @staticmethod
    def host_memory(size):
        pointer = c_void_p()
        check("cuMemHostAlloc", byref(pointer), size, 2)
        return pointer

    def start(self):
        ctypes.memset(self.flag, 0, 4)
        driver.launch(self.spin, (1, 1, 1), (1, 1, 1), [self.flag.value.to_bytes(8, "little")], 0, self.stream)
        self.timer = threading.Timer(PATIENCE, self.stop)
        self.timer.start()

    def stop(self):
        ctypes.memset(self.flag, 1, 4)

    def spins(self):
        return ctypes.string_at(self.flag, 1) == b"\0"

    def finish(self):
        self.timer.cancel()
        self.stop()
        return call("cuCtxSynchronize")

    def beside(self, label, prepare, act):
        """Notes the code of a call and whether it returned while the kernel was running."""
        prepared = prepare(self) if prepare else None
        driver.synchronize()
        self.start()
        code = act(self, prepared) if prepare else act(self)
        early = self.spins()
        after = self.finish()
        fact(label, [code, "returns before the kernel ends" if early else "waits for the kernel", after])


def new_stream(flags):
    stream = c_void_p()
    check("cuStreamCreate", byref(stream), flags)
    return stream


def new_event():
    event = c_void_p()
    check("cuEventCreate", byref(event), 0)
    return event


def rows(spinner):
    copy = Rows(srcType=2, srcDevice=spinner.memory, srcPitch=512, dstType=2, dstDevice=spinner.second, dstPitch=512,
                width=64, height=4)
    return call("cuMemcpy2D_v2", byref(copy))


COPIES = {
    "cuMemsetD8_v2": lambda s: call("cuMemsetD8_v2", s.memory, 1, MIB),
    "cuMemsetD16_v2": lambda s: call("cuMemsetD16_v2", s.memory, 1, 64),
    "cuMemsetD32_v2": lambda s: call("cuMemsetD32_v2", s.memory, 1, 64),
    "cuMemsetD2D8_v2": lambda s: call("cuMemsetD2D8_v2", c_uint64(s.memory), c_size_t(512), 1, c_size_t(64), c_size_t(4)),
    "cuMemsetD8_v2 pinned": lambda s: call("cuMemsetD8_v2", s.pinned.value, 1, 64),
    "cuMemsetD8_v2 managed": lambda s: call("cuMemsetD8_v2", s.managed.value, 1, 64),
    "cuMemcpyDtoD_v2": lambda s: call("cuMemcpyDtoD_v2", s.second, s.memory, MIB),
    "cuMemcpy device to device": lambda s: call("cuMemcpy", s.second, s.memory, 64),
    "cuMemcpy device to pageable": lambda s: call("cuMemcpy", ctypes.addressof(s.pageable), s.memory, 64),
    "cuMemcpy pageable to device": lambda s: call("cuMemcpy", s.memory, ctypes.addressof(s.pageable), 64),
    "cuMemcpy pinned to device": lambda s: call("cuMemcpy", s.memory, s.pinned.value, 64),
    "cuMemcpy pinned to pinned": lambda s: call("cuMemcpy", s.pinned.value + 4096, s.pinned.value, 64),
    "cuMemcpy pageable to pageable": lambda s: call(
        "cuMemcpy", ctypes.addressof(s.pageable) + 4096, ctypes.addressof(s.pageable), 64),
    "cuMemcpy2D_v2 device to device": rows,
}
for _name, _size in (("4", 4), ("1 Ki", 1024), ("64 Ki", 65536), ("64 Ki + 1", 65537), ("1 Mi", MIB)):
    COPIES |= {
        f"cuMemcpyHtoD_v2 pageable {_name}": lambda s, n=_size: call("cuMemcpyHtoD_v2", s.memory, s.pageable, n),
        f"cuMemcpyHtoD_v2 pinned {_name}": lambda s, n=_size: call("cuMemcpyHtoD_v2", s.memory, s.pinned, n),
        f"cuMemcpyDtoH_v2 pageable {_name}": lambda s, n=_size: call("cuMemcpyDtoH_v2", s.pageable, s.memory, n),
        f"cuMemcpyDtoH_v2 pinned {_name}": lambda s, n=_size: call("cuMemcpyDtoH_v2", s.pinned, s.memory, n),
        f"cuMemcpyHtoDAsync_v2 pageable {_name}": lambda s, n=_size: call(
            "cuMemcpyHtoDAsync_v2", s.memory, s.pageable, n, s.stream),
        f"cuMemcpyHtoDAsync_v2 pinned {_name}": lambda s, n=_size: call(
            "cuMemcpyHtoDAsync_v2", s.memory, s.pinned, n, s.stream),
        f"cuMemcpyDtoHAsync_v2 pageable {_name}": lambda s, n=_size: call(
            "cuMemcpyDtoHAsync_v2", s.pageable, s.memory, n, s.stream),
        f"cuMemcpyDtoHAsync_v2 pinned {_name}": lambda s, n=_size: call(
            "cuMemcpyDtoHAsync_v2", s.pinned, s.memory, n, s.stream),
    }


def graph_of(spinner):
    graph, node, executable = c_void_p(), c_void_p(), c_void_p()
    check("cuGraphCreate", byref(graph), 0)
    check("cuGraphAddEmptyNode", byref(node), graph, None, c_size_t(0))
    check("cuGraphInstantiateWithFlags", byref(executable), graph, c_uint64(0))
    return graph, executable


def kept(spinner):
    """Host memory that lives as long as the probe, which leaves it registered."""
    spinner.buffers.append(ctypes.create_string_buffer(8192))
    return spinner.buffers[-1]


def registered(spinner):
    buffer = kept(spinner)
    check("cuMemHostRegister_v2", buffer, 4096, 0)
    return buffer


def made(name, *arguments):
    """Something that a call makes, to be used up beside the kernel."""
    def make(spinner):
        out = c_uint64()
        check(name, byref(out), *arguments)
        return out.value
    return make


def plane(spinner):
    out = c_void_p()
    check("cuArrayCreate_v2", byref(out), byref(ArrayShape(16, 16, 0x20, 1)))
    return out


def library(spinner):
    out = c_void_p()
    check("cuLibraryLoadData", byref(out), SPIN.encode(), None, None, 0, None, None, 0)
    return out


# What each takes from before the kernel, and what it does beside it.
OBJECTS = {
    "cuMemAlloc_v2 64": (None, lambda s: call("cuMemAlloc_v2", byref(s.out), 64)),
    "cuMemAlloc_v2 64 Mi": (None, lambda s: call("cuMemAlloc_v2", byref(s.out), 64 * MIB)),
    "cuMemFree_v2 64": (made("cuMemAlloc_v2", 64), lambda s, it: call("cuMemFree_v2", it)),
    "cuMemFree_v2 64 Mi": (made("cuMemAlloc_v2", 64 * MIB), lambda s, it: call("cuMemFree_v2", it)),
    "cuMemAllocHost_v2": (None, lambda s: call("cuMemAllocHost_v2", byref(s.out), 64)),
    "cuMemFreeHost": (made("cuMemAllocHost_v2", 64), lambda s, it: call("cuMemFreeHost", c_void_p(it))),
    "cuMemFreeHost 4 Mi": (made("cuMemAllocHost_v2", 4 * MIB), lambda s, it: call("cuMemFreeHost", c_void_p(it))),
    "cuMemHostRegister_v2": (kept, lambda s, it: call("cuMemHostRegister_v2", it, 4096, 0)),
    "cuMemHostUnregister": (registered, lambda s, it: call("cuMemHostUnregister", it)),
    "cuMemAllocManaged": (None, lambda s: call("cuMemAllocManaged", byref(s.out), 4096, 1)),
    "cuMemFree_v2 managed": (made("cuMemAllocManaged", 4096, 1), lambda s, it: call("cuMemFree_v2", it)),
    "cuMemAllocAsync idle stream": (None, lambda s: call("cuMemAllocAsync", byref(s.out), 64, s.other)),
    "cuMemFreeAsync idle stream": (made("cuMemAlloc_v2", 64), lambda s, it: call("cuMemFreeAsync", it, s.other)),
    "cuMemGetInfo_v2": (None, lambda s: call("cuMemGetInfo_v2", byref(s.out), byref(s.size))),
    "cuArrayCreate_v2": (None, lambda s: call("cuArrayCreate_v2", byref(s.out), byref(ArrayShape(16, 16, 0x20, 1)))),
    "cuArrayDestroy": (plane, lambda s, it: call("cuArrayDestroy", it)),
    "cuModuleLoadData": (None, lambda s: call("cuModuleLoadData", byref(s.out), SPIN.encode())),
    "cuModuleUnload": (lambda s: driver.load(SPIN), lambda s, it: call("cuModuleUnload", it)),
    "cuModuleGetGlobal_v2": (None, lambda s: call(
        "cuModuleGetGlobal_v2", byref(s.out), byref(s.size), s.module, b"variable")),
    "cuLibraryLoadData": (None, lambda s: call(
        "cuLibraryLoadData", byref(s.out), SPIN.encode(), None, None, 0, None, None, 0)),
    "cuLibraryUnload": (library, lambda s, it: call("cuLibraryUnload", it)),
    "cuStreamCreate": (None, lambda s: call("cuStreamCreate", byref(s.out), 0)),
    "cuStreamDestroy_v2 idle": (lambda s: new_stream(0), lambda s, it: call("cuStreamDestroy_v2", it)),
    "cuStreamSynchronize idle": (None, lambda s: call("cuStreamSynchronize", s.other)),
    "cuStreamSynchronize null": (None, lambda s: call("cuStreamSynchronize", None)),
    "cuStreamQuery null": (None, lambda s: call("cuStreamQuery", None)),
    "cuStreamQuery the kernel's": (None, lambda s: call("cuStreamQuery", s.stream)),
    "cuEventCreate": (None, lambda s: call("cuEventCreate", byref(s.out), 0)),
    "cuEventDestroy_v2": (lambda s: new_event(), lambda s, it: call("cuEventDestroy_v2", it)),
    "cuEventRecord": (lambda s: new_event(), lambda s, it: call("cuEventRecord", it, s.stream)),
    "cuEventRecord and cuEventQuery": (lambda s: new_event(), lambda s, it: [
        call("cuEventRecord", it, s.stream), call("cuEventQuery", it)]),
    "cuCtxSetLimit stack": (None, lambda s: call("cuCtxSetLimit", 0, 2048)),
    "cuCtxGetLimit stack": (None, lambda s: call("cuCtxGetLimit", byref(s.out), 0)),
    "cuFuncSetAttribute": (None, lambda s: call("cuFuncSetAttribute", s.nothing, 8, 1024)),
    "cuGraphInstantiateWithFlags": (graph_of, lambda s, it: call(
        "cuGraphInstantiateWithFlags", byref(s.out), it[0], c_uint64(0))),
    "cuGraphLaunch idle stream": (graph_of, lambda s, it: call("cuGraphLaunch", it[1], s.other)),
    "cuGraphExecDestroy": (graph_of, lambda s, it: call("cuGraphExecDestroy", it[1])),
}


@family(["default_stream", "blocking_stream", "other_stream"])
def copies_beside_a_kernel(where):
    """Calls on the default stream while a kernel runs there, in a blocking stream, or where nothing orders it."""
    driver.start()
    spinner = Spinner({"default_stream": None, "blocking_stream": new_stream(0), "other_stream": new_stream(1)}[where])
    for label, act in COPIES.items():
        spinner.beside(label, None, act)


@family(["default_stream", "other_stream"])
def objects_beside_a_kernel(where):
    driver.start()
    spinner = Spinner(None if where == "default_stream" else new_stream(1))
    for label, (prepare, act) in OBJECTS.items():
        spinner.beside(label, prepare, act)


def seen(content, old, new):
    return {old: "old", new: "new"}.get(content, "neither")


@probe
def reads_that_nothing_orders():
    """What a non-blocking stream reads of what the default stream was told to write behind a kernel."""
    driver.start()
    s = Spinner()
    host = ctypes.create_string_buffer(b"\2" * MIB, MIB)

    def ask(label, write):
        check("cuMemsetD8_v2", s.memory, 1, MIB)
        check("cuMemsetD8_v2", s.second, 2, MIB)
        ctypes.memset(s.pinned, 0, 4)
        driver.synchronize()
        s.start()
        code, early = write(), s.spins()
        check("cuMemcpyDtoHAsync_v2", s.pinned, s.memory, 1, s.other)
        check("cuStreamSynchronize", s.other)
        value = ctypes.string_at(s.pinned, 1)
        still = s.spins()
        after = s.finish()
        fact(label, [code, early, seen(value, b"\1", b"\2"), still, after])
        fact(f"{label}, later", seen(driver.download(s.memory, 1), b"\1", b"\2"))

    ask("cuMemsetD8_v2", lambda: call("cuMemsetD8_v2", s.memory, 2, MIB))
    ask("cuMemcpyDtoD_v2", lambda: call("cuMemcpyDtoD_v2", s.memory, s.second, MIB))
    ask("cuMemcpyHtoD_v2 pageable 4", lambda: call("cuMemcpyHtoD_v2", s.memory, host, 4))
    ask("cuMemcpyHtoD_v2 pageable 64 Ki", lambda: call("cuMemcpyHtoD_v2", s.memory, host, 65536))

    def overwritten(size):
        code = call("cuMemcpyHtoDAsync_v2", s.memory, host, size, None)
        ctypes.memset(host, 3, size)
        return code

    for size in (4, 65536, MIB):
        ctypes.memset(host, 2, MIB)
        ask(f"cuMemcpyHtoDAsync_v2 pageable {size}, source overwritten", lambda: overwritten(size))


@probe
def reads_of_another_thread():
    """Two threads with default streams of their own: one fills behind a kernel, the other reads."""
    _, context = driver.start()
    if not hasattr(driver.cuda, "cuMemsetD8_v2_ptds"):
        return fact("per-thread default streams", "absent")
    driver.cuda.cuMemsetD8_v2_ptds.argtypes = driver.SIGNATURES["cuMemsetD8_v2"]
    driver.cuda.cuMemcpyDtoH_v2_ptds.argtypes = driver.SIGNATURES["cuMemcpyDtoH_v2"]
    s = Spinner(c_void_p(2))
    check("cuMemsetD8_v2", s.memory, 1, 64)
    driver.synchronize()
    back, codes = ctypes.create_string_buffer(4), []

    def read():
        codes.append(call("cuCtxSetCurrent", context))
        codes.append(call("cuMemcpyDtoH_v2_ptds", back, s.memory, 4))

    s.start()
    code = call("cuMemsetD8_v2_ptds", s.memory, 2, 64)
    early = s.spins()
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    still, value = s.spins(), back.raw[:1]
    after = s.finish()
    fact("fill on one thread, copy on another", [code, early, codes, seen(value, b"\1", b"\2"), still, after])


@probe
def fresh_memory():
    """What memory holds that was freed and is given out again."""
    driver.start()
    for size in (512, 4096, 65536, MIB, 2 * MIB, 16 * MIB):
        for name, extra in (("cuMemAlloc_v2", ()), ("cuMemAllocAsync", (None,))):
            first, again = c_uint64(), c_uint64()
            check(name, byref(first), size, *extra)
            check("cuMemsetD8_v2", first.value, 0x5A, size)
            driver.synchronize()
            check("cuMemFree_v2", first.value)
            check(name, byref(again), size, *extra)
            content = driver.download(again.value, size)
            found = {0: "zeros", 0x5A: "what was there"}.get(content[0], "something else")
            fact(f"{name} {size} after a free of as much", found)
            check("cuMemFree_v2", again.value)
