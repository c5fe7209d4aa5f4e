#!/usr/bin/env python3
"""What the driver answers to mistakes and edge cases; probes.py says how probes work.

    python3 tests/gpu/probe_driver.py OUTPUT.json     runs every probe, several at a time
    python3 tests/gpu/probe_driver.py --probe NAME    runs one
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import threading
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

import driver
import probe_answers  # noqa: F401  (registers its probes, as do the next ones)
import probe_captures  # noqa: F401
import probe_graphs  # noqa: F401
import probe_links  # noqa: F401
import probe_order  # noqa: F401
import probe_registered  # noqa: F401
import probe_textures  # noqa: F401
from driver import call, check, new_event, new_stream
from probes import SECONDS_PER_PROBE, attempt, fact, family, probe, run

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"


def u64(value):
    return int(value).to_bytes(8, "little")


def u32(value):
    return int(value).to_bytes(4, "little")


def ptx(name):
    return (KERNELS / f"{name}.ptx").read_text()


def new_context(flags=0):
    context = c_void_p()
    check("cuCtxCreate_v2", byref(context), flags, device())
    return context


def device():
    ordinal = c_int()
    check("cuDeviceGet", byref(ordinal), 0)
    return ordinal


class World:
    """One of everything in the current context."""

    def __init__(self):
        self.memory = driver.allocate(4096)
        self.host = c_void_p()
        check("cuMemAllocHost_v2", byref(self.host), 4096)
        self.module = driver.load(ptx("fill"))
        self.function = driver.function(self.module, "fill_u32")
        self.stream, self.event, self.second = new_stream(), new_event(), new_event()
        self.launch()
        check("cuEventRecord", self.event, self.stream)
        check("cuEventRecord", self.second, self.stream)
        check("cuStreamSynchronize", self.stream)

    def launch(self, stream=True):
        arguments = [u64(self.memory), u32(7), u64(16)]
        chosen = self.stream if stream else None
        return driver.launch_code(self.function, (1, 1, 1), (32, 1, 1), arguments, 0, chosen)

    def survey(self):
        """Every call of the table below on this world, whatever is current or broken."""
        host = ctypes.create_string_buffer(4096)
        out, out2, number, milliseconds = c_uint64(), c_uint64(), c_int(), c_float()
        attempt("cuCtxGetCurrent", byref(out))
        attempt("cuCtxGetDevice", byref(number))
        attempt("cuCtxGetApiVersion current", None, byref(number))
        attempt("cuCtxGetLimit", byref(out), 0)
        attempt("cuCtxGetStreamPriorityRange", byref(number), byref(out))
        attempt("cuStreamQuery", self.stream)
        attempt("cuStreamSynchronize", self.stream)
        attempt("cuStreamSynchronize null", None)
        attempt("cuStreamGetCtx", self.stream, byref(out))
        attempt("cuStreamGetFlags", self.stream, byref(number))
        attempt("cuStreamWaitEvent", self.stream, self.event, 0)
        attempt("cuEventQuery", self.event)
        attempt("cuEventElapsedTime", byref(milliseconds), self.event, self.second)
        attempt("cuEventSynchronize", self.event)
        attempt("cuEventRecord", self.event, self.stream)
        attempt("cuEventRecord null", self.event, None)
        fact("cuLaunchKernel", self.launch())
        fact("cuLaunchKernel null stream", self.launch(stream=False))
        attempt("cuFuncGetAttribute", byref(number), 0, self.function)
        attempt("cuFuncSetAttribute", self.function, 8, 1024)
        attempt("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(number), self.function, 128, 0)
        attempt("cuModuleGetFunction", byref(out), self.module, b"fill_u8")
        attempt("cuModuleGetGlobal_v2", byref(out), byref(out2), self.module, b"absent")
        attempt("cuModuleLoadData", byref(out), ptx("vector_add").encode())
        attempt("cuMemAlloc_v2", byref(out), 64)
        attempt("cuMemGetInfo_v2", byref(out), byref(out2))
        attempt("cuMemGetAddressRange_v2", byref(out), byref(out2), self.memory)
        attempt("cuPointerGetAttribute type", byref(out), 2, self.memory)
        attempt("cuPointerGetAttribute context", byref(out), 1, self.memory)
        attempt("cuMemcpyHtoD_v2", self.memory, host, 64)
        attempt("cuMemcpyDtoH_v2", host, self.memory, 64)
        attempt("cuMemcpyDtoD_v2", self.memory, self.memory + 256, 64)
        attempt("cuMemcpy", self.memory, self.memory + 256, 64)
        attempt("cuMemcpyHtoDAsync_v2", self.memory, self.host, 64, self.stream)
        attempt("cuMemcpyDtoHAsync_v2", self.host, self.memory, 64, self.stream)
        attempt("cuMemcpyHtoDAsync_v2 null stream", self.memory, self.host, 64, None)
        attempt("cuMemsetD8_v2", self.memory, 1, 64)
        attempt("cuMemsetD8Async", self.memory, 1, 64, self.stream)
        attempt("cuMemAllocHost_v2", byref(out), 64)
        attempt("cuMemHostAlloc", byref(out), 64, 0)
        attempt("cuMemHostRegister_v2", host, 4096, 0)
        attempt("cuMemAllocAsync", byref(out), 64, self.stream)
        attempt("cuMemFreeAsync", out, self.stream)
        attempt("cuStreamCreate", byref(out), 0)
        attempt("cuStreamBeginCapture_v2", self.stream, 0)
        attempt("cuStreamEndCapture", self.stream, byref(out))
        attempt("cuEventCreate", byref(out), 0)
        attempt("cuCtxSynchronize")
        attempt("cuDeviceGetAttribute", byref(number), 1, device())
        attempt("cuStreamDestroy_v2", self.stream)
        attempt("cuEventDestroy_v2", self.event)
        attempt("cuModuleUnload", self.module)
        attempt("cuMemFree_v2", self.memory)
        attempt("cuMemFreeHost", self.host)


# Which context is current


@probe
def current_none():
    driver.start()
    world = World()
    check("cuCtxSetCurrent", None)
    world.survey()


@probe
def current_none_after_pop():
    check("cuInit", 0)
    context, out = new_context(), c_void_p()
    attempt("cuCtxPopCurrent_v2", byref(out))
    fact("popped is created", out.value == context.value)
    attempt("cuCtxPopCurrent_v2 empty", byref(out))
    attempt("cuCtxGetCurrent empty", byref(out))
    fact("current when empty", out.value)
    attempt("cuCtxPushCurrent_v2", context)
    attempt("cuCtxPushCurrent_v2 again", context)
    attempt("cuCtxPushCurrent_v2 null", None)
    attempt("cuCtxDestroy_v2 on top twice", context)
    attempt("cuCtxGetCurrent after destroy", byref(out))
    fact("current after destroy", out.value)
    attempt("cuCtxSynchronize after destroy")
    attempt("cuCtxPopCurrent_v2 after destroy", byref(out))
    attempt("cuCtxPopCurrent_v2 after destroy, second", byref(out))
    attempt("cuCtxDestroy_v2 null", None)


@probe
def current_other():
    driver.start()
    world = World()
    fact("created", new_context().value is not None)
    world.survey()


@probe
def mixed_contexts():
    check("cuInit", 0)
    first = new_context()
    a = World()
    second = new_context()
    b = World()
    arguments = [u64(a.memory), u32(7), u64(16)]
    one = ((1, 1, 1), (32, 1, 1))
    for label, context in (("first", first), ("second", second)):
        check("cuCtxSetCurrent", context)
        fact(f"launch: function of first on stream of second, {label} current",
             driver.launch_code(a.function, *one, arguments, 0, b.stream))
        fact(f"launch: function of second on stream of first, {label} current",
             driver.launch_code(b.function, *one, arguments, 0, a.stream))
        attempt(f"cuEventRecord event of first, stream of second, {label} current", a.event, b.stream)
        attempt(f"cuStreamWaitEvent stream of first, event of second, {label} current", a.stream, b.event, 0)
        attempt(f"cuEventElapsedTime across contexts, {label} current", byref(c_float()), a.event, b.event)
        attempt(f"cuMemcpyHtoDAsync_v2 memory of first, stream of second, {label} current",
                a.memory, a.host, 64, b.stream)
        attempt(f"cuMemcpyDtoD_v2 between contexts, {label} current", a.memory, b.memory, 64)
        attempt(f"cuCtxSynchronize {label} current")
    attempt("cuCtxDestroy_v2 first while second is current", first)
    attempt("cuMemFree_v2 memory of destroyed first", a.memory)
    attempt("cuCtxSynchronize second")


# Device faults


FAULTS = {
    "oob_write_far": lambda memory: ("oob_write", [u64(memory), u64(1 << 36), u32(1)]),
    "oob_write_1_past": lambda memory: ("oob_write", [u64(memory), u64(1 << 19), u32(1)]),
    "oob_read_far": lambda memory: ("oob_read", [u64(memory), u64(1 << 36), u64(memory)]),
    "null_write": lambda memory: ("null_write", []),
    "misaligned_write": lambda memory: ("misaligned_write", [u64(memory)]),
    "trap": lambda memory: ("trap_if", [u64(memory)]),
    "assert": lambda memory: ("assert_below", [u64(memory), u32(64), u32(1)]),
    "stack_overflow": lambda memory: ("recurse", [u64(memory), u32(100_000)]),
}


def break_context(kind):
    """Faults in the current context; the memory holds 2 MiB of ones, so that it ends on a page."""
    module = driver.load(ptx("faults"))
    memory = driver.allocate(1 << 21)
    check("cuMemsetD8_v2", memory, 1, 1 << 21)
    name, arguments = FAULTS[kind](memory)
    fact("launch of the faulty kernel", driver.launch_code(driver.function(module, name), (1, 1, 1), (64, 1, 1), arguments))
    attempt("cuCtxSynchronize first after the fault")


@family(FAULTS)
def fault(kind):
    driver.start()
    world = World()
    break_context(kind)
    world.survey()
    out = c_void_p()
    attempt("cuCtxSynchronize last")
    attempt("cuCtxPopCurrent_v2", byref(out))
    attempt("cuCtxPushCurrent_v2", out)


def works():
    """Whether memory and a launch work in the current context: the first failing code, or 0."""
    try:
        World().launch()
        driver.synchronize()
    except driver.DriverError as error:
        return error.code
    return 0


@family(FAULTS)
def recover_by_primary_reset(kind):
    driver.start()
    break_context(kind)
    attempt("cuDevicePrimaryCtxReset_v2", device())
    fact("primary after reset, still current", works())
    context = c_void_p()
    attempt("cuDevicePrimaryCtxRetain", byref(context), device())
    attempt("cuCtxSetCurrent", context)
    fact("primary retained and set again", works())


@family(FAULTS)
def recover_by_primary_release(kind):
    driver.start()
    break_context(kind)
    attempt("cuCtxSetCurrent none", None)
    attempt("cuDevicePrimaryCtxRelease_v2", device())
    context = c_void_p()
    attempt("cuDevicePrimaryCtxRetain", byref(context), device())
    attempt("cuCtxSetCurrent", context)
    fact("primary after release and retain", works())


@family(FAULTS)
def recover_by_new_context(kind):
    check("cuInit", 0)
    bystander = new_context()
    broken = new_context()
    break_context(kind)
    check("cuCtxSetCurrent", bystander)
    attempt("cuCtxSynchronize bystander")
    fact("bystander", works())
    context = c_void_p()
    attempt("cuCtxCreate_v2 beside the broken one", byref(context), 0, device())
    fact("new context beside the broken one", works())
    attempt("cuCtxDestroy_v2 broken", broken)
    attempt("cuCtxSetCurrent bystander", bystander)
    fact("bystander after destroy", works())
    attempt("cuCtxCreate_v2 after destroy", byref(context), 0, device())
    fact("new context after destroy", works())


# Launches


@probe
def launch_limits():
    driver.start()
    module = driver.load(ptx("reduce_shared"))
    handle = driver.function(module, "reduce_shared_dynamic")
    memory = driver.allocate(1 << 20)
    check("cuMemsetD8_v2", memory, 0, 1 << 20)
    arguments = [u64(memory), u64(memory), u32(0)]

    def launch(label, grid, block, shared=0, stream=None):
        fact(label, driver.launch_code(handle, grid, block, arguments, shared, stream))
        fact(f"{label}: synchronize", call("cuCtxSynchronize"))

    launch("block 1024", (1, 1, 1), (1024, 1, 1), 4096)
    launch("block 1025", (1, 1, 1), (1025, 1, 1), 4100)
    launch("block 1 x 1025", (1, 1, 1), (1, 1025, 1), 4100)
    launch("block 1 x 1 x 65", (1, 1, 1), (1, 1, 65), 4100)
    launch("block 32 x 33", (1, 1, 1), (32, 33, 1), 4300)
    for axis, name in enumerate("xyz"):
        sides = [1, 1, 1]
        sides[axis] = 0
        launch(f"block {name} 0", (1, 1, 1), tuple(sides))
        launch(f"grid {name} 0", tuple(sides), (1, 1, 1), 4)
    launch("grid y 65535", (1, 65535, 1), (1, 1, 1), 4)
    launch("grid y 65536", (1, 65536, 1), (1, 1, 1), 4)
    launch("grid z 65536", (1, 1, 65536), (1, 1, 1), 4)
    launch("grid x 2^31", (1 << 31, 1, 1), (1, 1, 1), 4)
    launch("shared 48 KiB", (1, 1, 1), (32, 1, 1), 49152)
    launch("shared 48 KiB + 1", (1, 1, 1), (32, 1, 1), 49153)
    attempt("cuFuncSetAttribute shared 65536", handle, 8, 65536)
    launch("shared 64 KiB after opt-in", (1, 1, 1), (32, 1, 1), 65536)
    launch("shared 64 KiB + 1 after opt-in", (1, 1, 1), (32, 1, 1), 65537)
    for size in (232448, 232449, 1 << 20, -1):
        attempt(f"cuFuncSetAttribute shared {size}", handle, 8, size)
    attempt("cuFuncSetAttribute read-only attribute", handle, 0, 1)
    attempt("cuFuncSetAttribute unknown attribute", handle, 99, 1)
    attempt("cuFuncGetAttribute unknown attribute", byref(c_int()), 99, handle)
    fixed = """.version 7.7
.target sm_75
.address_size 64
.visible .entry at_most() .maxntid 128, 1, 1 { ret; }
.visible .entry exactly() .reqntid 64, 1, 1 { ret; }
.visible .entry exactly_2d() .reqntid 8, 8, 1 { ret; }
"""
    other = driver.load(fixed)
    at_most, exactly, exactly_2d = (driver.function(other, name) for name in ("at_most", "exactly", "exactly_2d"))
    for label, kernel, block in (
        ("maxntid 128, block 128", at_most, (128, 1, 1)), ("maxntid 128, block 129", at_most, (129, 1, 1)),
        ("maxntid 128, block 8 x 16", at_most, (8, 16, 1)), ("reqntid 64, block 64", exactly, (64, 1, 1)),
        ("reqntid 64, block 32", exactly, (32, 1, 1)), ("reqntid 64, block 8 x 8", exactly, (8, 8, 1)),
        ("reqntid 8 x 8, block 64", exactly_2d, (64, 1, 1)),
    ):
        fact(label, driver.launch_code(kernel, (1, 1, 1), block, []))
        fact(f"{label}: synchronize", call("cuCtxSynchronize"))
    for label, kernel in (("at_most", at_most), ("exactly", exactly), ("reduce", handle)):
        number = c_int()
        check("cuFuncGetAttribute", byref(number), 0, kernel)
        fact(f"max threads per block of {label}", number.value)
    cooperative = (c_void_p * 3)()
    buffers = [ctypes.create_string_buffer(argument, len(argument)) for argument in arguments]
    for index, buffer in enumerate(buffers):
        cooperative[index] = ctypes.addressof(buffer)
    for blocks in (1, 100, 1_000_000):
        attempt(f"cuLaunchCooperativeKernel {blocks} blocks", handle, blocks, 1, 1, 256, 1, 1, 1024, None, cooperative)
        fact(f"cuLaunchCooperativeKernel {blocks} blocks: synchronize", call("cuCtxSynchronize"))


@family(["null_function", "null_arguments", "null_pointer_in_arguments", "extra_right", "extra_short", "extra_long",
         "extra_and_arguments", "extra_unknown_key"])
def launch_arguments(kind):
    driver.start()
    world = World()
    image = ctypes.create_string_buffer(u64(world.memory) + u32(7) + u32(0) + u64(16), 24)
    buffers = [ctypes.create_string_buffer(part, len(part)) for part in (u64(world.memory), u32(7), u64(16))]
    pointers = (c_void_p * 3)(*[ctypes.addressof(buffer) for buffer in buffers])
    handle, parameters, extra = world.function, pointers, None

    def extra_of(size, key=1):
        length = c_size_t(size)
        entries = (c_void_p * 5)(key, ctypes.addressof(image), 2, ctypes.addressof(length), 0)
        entries.keep = length
        return entries

    if kind == "null_function":
        handle = None
    elif kind == "null_arguments":
        parameters = None
    elif kind == "null_pointer_in_arguments":
        pointers[1] = None
    elif kind == "extra_and_arguments":
        extra = extra_of(24)
    else:
        parameters = None
        extra = {"extra_right": lambda: extra_of(24), "extra_short": lambda: extra_of(12),
                 "extra_long": lambda: extra_of(32), "extra_unknown_key": lambda: extra_of(24, 77)}[kind]()
    attempt("cuLaunchKernel", handle, 1, 1, 1, 32, 1, 1, 0, None, parameters, extra)
    attempt("cuCtxSynchronize")


# Handles and memory


def destroyed_stream():
    stream = new_stream()
    check("cuStreamDestroy_v2", stream)
    return stream


def destroyed_event():
    event = new_event()
    check("cuEventDestroy_v2", event)
    return event


def unloaded_module():
    module = driver.load(ptx("fill"))
    check("cuModuleUnload", module)
    return module


def orphaned_function():
    module = driver.load(ptx("fill"))
    handle = driver.function(module, "fill_u32")
    check("cuModuleUnload", module)
    return handle


def destroyed_context():
    context, keep = new_context(), c_void_p()
    check("cuCtxDestroy_v2", context)
    check("cuDevicePrimaryCtxRetain", byref(keep), device())
    check("cuCtxSetCurrent", keep)
    return context


def freed():
    pointer = driver.allocate(4096)
    driver.free(pointer)
    return pointer


DEAD = {
    "stream_destroy": lambda: attempt("cuStreamDestroy_v2", destroyed_stream()),
    "stream_synchronize": lambda: attempt("cuStreamSynchronize", destroyed_stream()),
    "stream_query": lambda: attempt("cuStreamQuery", destroyed_stream()),
    "stream_launch": lambda: fact("cuLaunchKernel", driver.launch_code(
        World().function, (1, 1, 1), (32, 1, 1), [u64(driver.allocate(64)), u32(1), u64(16)], 0, destroyed_stream())),
    "stream_copy": lambda: attempt("cuMemsetD8Async", driver.allocate(64), 1, 64, destroyed_stream()),
    "event_destroy": lambda: attempt("cuEventDestroy_v2", destroyed_event()),
    "event_synchronize": lambda: attempt("cuEventSynchronize", destroyed_event()),
    "event_query": lambda: attempt("cuEventQuery", destroyed_event()),
    "event_record": lambda: attempt("cuEventRecord", destroyed_event(), None),
    "event_wait": lambda: attempt("cuStreamWaitEvent", new_stream(), destroyed_event(), 0),
    "module_unload": lambda: attempt("cuModuleUnload", unloaded_module()),
    "module_get_function": lambda: attempt("cuModuleGetFunction", byref(c_void_p()), unloaded_module(), b"fill_u32"),
    "function_launch": lambda: fact("cuLaunchKernel", driver.launch_code(
        orphaned_function(), (1, 1, 1), (32, 1, 1), [u64(driver.allocate(64)), u32(1), u64(16)])),
    "function_attribute": lambda: attempt("cuFuncGetAttribute", byref(c_int()), 0, orphaned_function()),
    "context_destroy": lambda: attempt("cuCtxDestroy_v2", destroyed_context()),
    "context_set_current": lambda: (attempt("cuCtxSetCurrent", destroyed_context()), attempt("cuCtxSynchronize")),
    "context_push": lambda: attempt("cuCtxPushCurrent_v2", destroyed_context()),
    "context_api_version": lambda: attempt("cuCtxGetApiVersion", destroyed_context(), byref(c_int())),
    "wild_stream": lambda: attempt("cuStreamSynchronize", c_void_p(0x1234560)),
    "wild_event": lambda: attempt("cuEventSynchronize", c_void_p(0x1234560)),
    "wild_module": lambda: attempt("cuModuleUnload", c_void_p(0x1234560)),
    "wild_context": lambda: attempt("cuCtxSetCurrent", c_void_p(0x1234560)),
    "null_event": lambda: attempt("cuEventSynchronize", None),
    "null_module": lambda: attempt("cuModuleUnload", None),
    "null_stream_destroy": lambda: attempt("cuStreamDestroy_v2", None),
    "null_out_pointer": lambda: attempt("cuMemAlloc_v2", None, 64),
    "free_twice": lambda: attempt("cuMemFree_v2", freed()),
    "free_interior": lambda: attempt("cuMemFree_v2", driver.allocate(4096) + 256),
    "free_null": lambda: attempt("cuMemFree_v2", 0),
    "free_wild": lambda: attempt("cuMemFree_v2", 0x123456789000),
    "free_host_pointer": lambda: attempt("cuMemFree_v2", ctypes.addressof(ctypes.create_string_buffer(4096))),
    "free_host_of_device": lambda: attempt("cuMemFreeHost", c_void_p(driver.allocate(4096))),
    "free_host_of_malloc": lambda: attempt("cuMemFreeHost", ctypes.create_string_buffer(4096)),
    "free_host_null": lambda: attempt("cuMemFreeHost", None),
    "copy_from_freed": lambda: attempt("cuMemcpyDtoH_v2", ctypes.create_string_buffer(64), freed(), 64),
    "copy_to_freed": lambda: attempt("cuMemcpyHtoD_v2", freed(), ctypes.create_string_buffer(64), 64),
    "attribute_of_freed": lambda: attempt("cuPointerGetAttribute", byref(c_uint64()), 2, freed()),
    "use_after_destroy_of_its_context": lambda: stream_of_destroyed_context(),
}


def stream_of_destroyed_context():
    context = new_context()
    stream, memory, event = new_stream(), driver.allocate(4096), new_event()
    check("cuCtxDestroy_v2", context)
    attempt("cuMemFree_v2 nothing current", memory)
    attempt("cuEventQuery nothing current", event)
    attempt("cuStreamSynchronize nothing current", stream)
    attempt("cuStreamDestroy_v2 nothing current", stream)


@family(DEAD)
def dead(kind):
    driver.start()
    DEAD[kind]()
    attempt("cuCtxSynchronize afterwards")


@probe
def memory_limits():
    driver.start()
    out, available, total, pitch = c_uint64(), c_size_t(), c_size_t(), c_size_t()
    check("cuMemGetInfo_v2", byref(available), byref(total))
    for label, size in (("0", 0), ("1", 1), ("total", total.value), ("2^40", 1 << 40), ("2^63", 1 << 63),
                        ("2^64 - 1", 2**64 - 1)):
        code = attempt(f"cuMemAlloc_v2 {label} bytes", byref(out), size)
        if code == 0:
            driver.free(out.value)
    addresses = [driver.allocate(size) for size in (1, 1, 512, 513, 1, 4096, 1, 1 << 20, 1 << 21, (1 << 21) + 1, 1)]
    fact("distances of allocations of 1 1 512 513 1 4096 1 1M 2M 2M+1 1 bytes",
         [after - before for before, after in zip(addresses, addresses[1:])])
    fact("alignment of each", [address & -address for address in addresses])
    base, size = c_uint64(), c_size_t()
    check("cuMemGetAddressRange_v2", byref(base), byref(size), addresses[3] + 100)
    fact("address range of 513 bytes from offset 100", [base.value - addresses[3], size.value])
    attempt("cuMemGetAddressRange_v2 1 past", byref(base), byref(size), addresses[3] + 513)
    for width, height, element in ((1, 1, 4), (100, 3, 4), (512, 2, 16), (513, 2, 8), (4000, 10, 4)):
        check("cuMemAllocPitch_v2", byref(out), byref(pitch), width, height, element)
        fact(f"pitch of width {width}", pitch.value)
    for element in (0, 1, 2, 3, 32):
        attempt(f"cuMemAllocPitch_v2 element of {element} bytes", byref(out), byref(pitch), 100, 2, element)
    attempt("cuMemAllocPitch_v2 width 0", byref(out), byref(pitch), 0, 2, 4)
    attempt("cuMemAllocPitch_v2 height 0", byref(out), byref(pitch), 100, 0, 4)

    memory, host = driver.allocate(1000), ctypes.create_string_buffer(8192)
    attempt("cuMemcpyHtoD_v2 0 bytes", memory, host, 0)
    attempt("cuMemcpyHtoD_v2 0 bytes, null pointers", 0, None, 0)
    attempt("cuMemcpyHtoD_v2 null destination", 0, host, 64)
    attempt("cuMemcpyHtoD_v2 null source", memory, None, 64)
    attempt("cuMemcpyHtoD_v2 exact", memory, host, 1000)
    attempt("cuMemcpyHtoD_v2 1 byte over", memory, host, 1001)
    attempt("cuMemcpyHtoD_v2 up to the granule", memory, host, 1024)
    attempt("cuMemcpyHtoD_v2 far over", memory, host, 8192)
    attempt("cuMemcpyHtoD_v2 to a host pointer", ctypes.addressof(host), host, 64)
    attempt("cuMemcpyDtoH_v2 from a host pointer", host, ctypes.addressof(host) + 4096, 64)
    attempt("cuMemcpyDtoD_v2 overlapping", memory, memory + 8, 64)
    attempt("cuMemcpy host to host", ctypes.addressof(host), ctypes.addressof(host) + 4096, 64)
    attempt("cuMemcpy host to device", memory, ctypes.addressof(host), 64)
    attempt("cuMemsetD8_v2 0 bytes", memory, 1, 0)
    attempt("cuMemsetD8_v2 null", 0, 1, 64)
    attempt("cuMemsetD8_v2 1 byte over", memory, 1, 1001)
    attempt("cuMemsetD16_v2 odd address", memory + 1, 1, 2)
    attempt("cuMemsetD32_v2 address of 2 modulo 4", memory + 2, 1, 2)
    attempt("cuMemsetD32_v2 over the end", memory, 1, 251)
    for label, size, flags in (("0 bytes", 0, 0), ("all flags", 64, 7), ("unknown flag", 64, 8)):
        attempt(f"cuMemHostAlloc {label}", byref(out), size, flags)
    attempt("cuMemHostRegister_v2", host, 4096, 0)
    attempt("cuMemHostRegister_v2 again", host, 4096, 0)
    attempt("cuMemHostUnregister", host)
    attempt("cuMemHostUnregister again", host)
    attempt("cuMemHostRegister_v2 0 bytes", host, 0, 0)
    pinned = c_void_p()
    check("cuMemHostAlloc", byref(pinned), 4096, 2)
    check("cuMemHostGetDevicePointer_v2", byref(out), pinned, 0)
    fact("device pointer of mapped host memory is its address", out.value == pinned.value)
    managed = c_uint64()
    attempt("cuMemAllocManaged", byref(managed), 4096, 1)
    word = c_uint64()
    for attribute in range(1, 22):
        answers = []
        for address in (memory, memory + 8, pinned.value, managed.value, ctypes.addressof(host), 0):
            ctypes.memset(byref(word), 0, 8)
            code = call("cuPointerGetAttribute", byref(word), attribute, address)
            answers.append([code, word.value if attribute in (2, 6, 8, 9, 15, 18) else None])
        fact(f"cuPointerGetAttribute {attribute} of device, inside it, pinned, managed, plain host, null", answers)


@probe
def streams_and_events():
    driver.start()
    out, number, milliseconds = c_void_p(), c_int(), c_float()
    fresh, second = new_event(), new_event()
    stream = new_stream(1)
    attempt("cuEventQuery never recorded", fresh)
    attempt("cuEventSynchronize never recorded", fresh)
    attempt("cuStreamWaitEvent never recorded", stream, fresh, 0)
    attempt("cuEventElapsedTime never recorded", byref(milliseconds), fresh, second)
    check("cuEventRecord", fresh, stream)
    attempt("cuEventElapsedTime end never recorded", byref(milliseconds), fresh, second)
    untimed = new_event(2)
    check("cuEventRecord", untimed, stream)
    check("cuStreamSynchronize", stream)
    attempt("cuEventElapsedTime of an untimed event", byref(milliseconds), fresh, untimed)
    check("cuEventRecord", second, stream)
    check("cuStreamSynchronize", stream)
    attempt("cuEventElapsedTime backwards", byref(milliseconds), second, fresh)
    fact("sign of the time backwards", (milliseconds.value > 0) - (milliseconds.value < 0))
    for flags in (3, 4, 7, 8):
        attempt(f"cuEventCreate flags {flags}", byref(out), flags)
    for flags in (1, 2, 3):
        attempt(f"cuStreamCreate flags {flags}", byref(out), flags)
    low, high = c_int(), c_int()
    check("cuCtxGetStreamPriorityRange", byref(low), byref(high))
    fact("stream priorities, least and greatest", [low.value, high.value])
    for priority in (100, -100):
        check("cuStreamCreateWithPriority", byref(out), 1, priority)
        check("cuStreamGetPriority", out, byref(number))
        fact(f"priority {priority} becomes", number.value)
    check("cuStreamGetFlags", stream, byref(number))
    fact("flags of a non-blocking stream", number.value)
    attempt("cuStreamGetFlags of the null stream", None, byref(number))
    for handle in (1, 2):
        attempt(f"cuStreamSynchronize special stream {handle}", c_void_p(handle))
        attempt(f"cuStreamQuery special stream {handle}", c_void_p(handle))
    # A kernel that spins until the host says go: everything below happens while work is pending.
    flag = c_void_p()
    check("cuMemHostAlloc", byref(flag), 4096, 2)
    ctypes.memset(flag, 0, 4)
    spin = driver.function(driver.load(ptx("faults")), "spin")
    check("cuCtxSynchronize")
    pending, destroyed = new_event(), new_event()
    driver.launch(spin, (1, 1, 1), (1, 1, 1), [u64(flag.value)], 0, stream)
    check("cuEventRecord", pending, stream)
    check("cuEventRecord", destroyed, stream)
    attempt("cuStreamQuery while a kernel runs", stream)
    attempt("cuEventQuery while a kernel runs", pending)
    attempt("cuEventElapsedTime while a kernel runs", byref(milliseconds), fresh, pending)
    attempt("cuEventDestroy_v2 while a kernel runs", destroyed)
    ctypes.memset(flag, 1, 4)
    attempt("cuStreamSynchronize after the flag", stream)
    attempt("cuEventQuery after the flag", pending)
    attempt("cuStreamBeginCapture_v2 null stream", None, 0)
    attempt("cuStreamBeginCapture_v2", stream, 0)
    attempt("cuStreamSynchronize while capturing", stream)
    attempt("cuStreamQuery while capturing", stream)
    attempt("cuMemAlloc_v2 while capturing", byref(out), 64)
    attempt("cuCtxSynchronize while capturing")
    attempt("cuStreamEndCapture after an invalid call", stream, byref(out))
    attempt("cuStreamEndCapture not capturing", stream, byref(out))


MODES = {"global": 0, "thread_local": 1, "relaxed": 2}


class Spare:
    """One of everything, made before a capture begins, for one call of the table below to use up."""

    def __init__(self):
        self.context, self.out, self.size, self.number = c_void_p(), c_uint64(), c_size_t(), c_int()
        check("cuCtxGetCurrent", byref(self.context))
        self.host = ctypes.create_string_buffer(4096)
        self.memory, self.pinned = driver.allocate(4096), c_void_p()
        check("cuMemAllocHost_v2", byref(self.pinned), 4096)
        self.module = driver.load(ptx("fill"))
        self.function = driver.function(self.module, "fill_u32")
        self.capturing, self.stream = new_stream(1), new_stream(1)
        self.event, self.later, self.captured = new_event(), new_event(), new_event()
        check("cuEventRecord", self.event, self.stream)
        check("cuStreamSynchronize", self.stream)
        self.graph, self.node, self.exec = c_void_p(), c_void_p(), c_void_p()
        check("cuGraphCreate", byref(self.graph), 0)
        check("cuGraphAddEmptyNode", byref(self.node), self.graph, None, c_size_t(0))
        check("cuGraphInstantiateWithFlags", byref(self.exec), self.graph, c_uint64(0))
        # Nothing that an earlier call left behind is still running.
        driver.synchronize()

    def launch(self, stream):
        return driver.launch_code(self.function, (1, 1, 1), (32, 1, 1), [u64(self.memory), u32(7), u64(16)], 0, stream)


CALLS_WHILE_CAPTURING = {
    "cuMemAlloc_v2": lambda s: call("cuMemAlloc_v2", byref(s.out), 64),
    "cuMemFree_v2": lambda s: call("cuMemFree_v2", s.memory),
    "cuMemAllocHost_v2": lambda s: call("cuMemAllocHost_v2", byref(s.out), 64),
    "cuMemFreeHost": lambda s: call("cuMemFreeHost", s.pinned),
    "cuMemAllocManaged": lambda s: call("cuMemAllocManaged", byref(s.out), 64, 1),
    "cuMemHostRegister_v2": lambda s: call("cuMemHostRegister_v2", ctypes.addressof(s.host), 4096, 0),
    "cuMemGetInfo_v2": lambda s: call("cuMemGetInfo_v2", byref(s.out), byref(s.size)),
    "cuMemcpyHtoD_v2": lambda s: call("cuMemcpyHtoD_v2", s.memory, s.host, 64),
    "cuMemcpyDtoH_v2": lambda s: call("cuMemcpyDtoH_v2", s.host, s.memory, 64),
    "cuMemcpyDtoD_v2": lambda s: call("cuMemcpyDtoD_v2", s.memory, s.memory + 512, 64),
    "cuMemsetD8_v2": lambda s: call("cuMemsetD8_v2", s.memory, 1, 64),
    "cuMemcpyHtoDAsync_v2 null stream": lambda s: call("cuMemcpyHtoDAsync_v2", s.memory, s.host, 64, None),
    "cuMemcpyHtoDAsync_v2 other stream": lambda s: call("cuMemcpyHtoDAsync_v2", s.memory, s.host, 64, s.stream),
    "cuMemAllocAsync other stream": lambda s: call("cuMemAllocAsync", byref(s.out), 64, s.stream),
    "cuLaunchKernel null stream": lambda s: s.launch(None),
    "cuLaunchKernel other stream": lambda s: s.launch(s.stream),
    "cuStreamQuery": lambda s: call("cuStreamQuery", s.capturing),
    "cuStreamQuery other stream": lambda s: call("cuStreamQuery", s.stream),
    "cuStreamQuery null stream": lambda s: call("cuStreamQuery", None),
    "cuStreamSynchronize": lambda s: call("cuStreamSynchronize", s.capturing),
    "cuStreamSynchronize other stream": lambda s: call("cuStreamSynchronize", s.stream),
    "cuStreamSynchronize null stream": lambda s: call("cuStreamSynchronize", None),
    "cuStreamCreate": lambda s: call("cuStreamCreate", byref(s.out), 0),
    "cuStreamDestroy_v2 other stream": lambda s: call("cuStreamDestroy_v2", s.stream),
    "cuEventCreate": lambda s: call("cuEventCreate", byref(s.out), 0),
    "cuEventDestroy_v2 other event": lambda s: call("cuEventDestroy_v2", s.event),
    "cuEventQuery": lambda s: call("cuEventQuery", s.captured),
    "cuEventQuery other event": lambda s: call("cuEventQuery", s.event),
    "cuEventSynchronize": lambda s: call("cuEventSynchronize", s.captured),
    "cuEventSynchronize other event": lambda s: call("cuEventSynchronize", s.event),
    "cuEventElapsedTime": lambda s: call("cuEventElapsedTime", byref(s.out), s.event, s.captured),
    "cuEventRecord other stream": lambda s: call("cuEventRecord", s.later, s.stream),
    "cuCtxSynchronize": lambda s: call("cuCtxSynchronize"),
    "cuCtxSetLimit": lambda s: call("cuCtxSetLimit", 1, 1 << 20),
    "cuModuleLoadData": lambda s: call("cuModuleLoadData", byref(s.out), ptx("fill").encode()),
    "cuModuleUnload": lambda s: call("cuModuleUnload", s.module),
    "cuModuleGetFunction": lambda s: call("cuModuleGetFunction", byref(s.out), s.module, b"fill_u8"),
    "cuFuncSetAttribute": lambda s: call("cuFuncSetAttribute", s.function, 8, 1024),
    "cuFuncGetAttribute": lambda s: call("cuFuncGetAttribute", byref(s.number), 0, s.function),
    "cuPointerGetAttribute": lambda s: call("cuPointerGetAttribute", byref(s.out), 2, s.memory),
    "cuGraphInstantiateWithFlags": lambda s: call("cuGraphInstantiateWithFlags", byref(s.out), s.graph, c_uint64(0)),
    "cuGraphUpload other stream": lambda s: call("cuGraphUpload", s.exec, s.stream),
    "cuGraphLaunch other stream": lambda s: call("cuGraphLaunch", s.exec, s.stream),
    "cuGraphExecDestroy": lambda s: call("cuGraphExecDestroy", s.exec),
    "cuStreamBeginCapture_v2 again": lambda s: call("cuStreamBeginCapture_v2", s.capturing, 0),
    "cuStreamBeginCapture_v2 other stream": lambda s: call("cuStreamBeginCapture_v2", s.stream, 0),
}


@family(f"{mode}.{caller}.{threads}" for mode in MODES for caller in ("same", "other") for threads in MODES)
def capture(combination):
    """Every call of the table in a capture of its own, by the thread that captures or by another one.

    A fact says the call's code, what became of the capture (1 is active, 2 invalid), and the code of its end.
    """
    mode, caller, threads = combination.split(".")
    driver.start()
    for label, act in CALLS_WHILE_CAPTURING.items():
        spare, codes = Spare(), []

        def try_it():
            check("cuCtxSetCurrent", spare.context)
            thread_mode = c_int(MODES[threads])
            check("cuThreadExchangeStreamCaptureMode", byref(thread_mode))
            codes.append(act(spare))
            check("cuThreadExchangeStreamCaptureMode", byref(thread_mode))

        check("cuStreamBeginCapture_v2", spare.capturing, MODES[mode])
        check("cuEventRecord", spare.captured, spare.capturing)
        if caller == "same":
            try_it()
        else:
            thread = threading.Thread(target=try_it)
            thread.start()
            thread.join()
        status = c_int()
        check("cuStreamIsCapturing", spare.capturing, byref(status))
        end = call("cuStreamEndCapture", spare.capturing, byref(spare.out))
        fact(label, f"{codes[0]} {status.value} {end}")


@probe
def capture_edges():
    driver.start()
    s, graph, status = Spare(), c_void_p(), c_int()

    def end(label):
        check("cuStreamIsCapturing", s.capturing, byref(status))
        fact(f"status {label}", status.value)
        attempt(f"cuStreamEndCapture {label}", s.capturing, byref(graph))
        fact(f"no graph {label}", graph.value is None)

    def begin(mode=0):
        check("cuStreamBeginCapture_v2", s.capturing, mode)

    for mode in (-1, 3):
        attempt(f"cuStreamBeginCapture_v2 mode {mode}", s.capturing, mode)
    wrong = c_int(3)
    attempt("cuThreadExchangeStreamCaptureMode 3", byref(wrong))
    wrong = c_int(0)
    attempt("cuThreadExchangeStreamCaptureMode 0", byref(wrong))
    fact("mode before that", wrong.value)
    attempt("cuStreamBeginCapture_v2 stream 1", c_void_p(1), 0)
    attempt("cuStreamBeginCapture_v2 stream 2", c_void_p(2), 0)
    attempt("cuStreamEndCapture stream 2", c_void_p(2), byref(graph))
    for mode in MODES:
        begin(MODES[mode])
        codes = []
        thread = threading.Thread(target=lambda: codes.append(
            call("cuCtxSetCurrent", s.context) or call("cuStreamEndCapture", s.capturing, byref(graph))))
        thread.start()
        thread.join()
        fact(f"cuStreamEndCapture {mode} by another thread", codes[0])
        end(f"after another thread ended {mode}")
    begin()
    check("cuEventRecord", s.captured, s.capturing)
    attempt("cuStreamWaitEvent fork", s.stream, s.captured, 0)
    fact("cuLaunchKernel fork", s.launch(s.stream))
    attempt("cuStreamEndCapture of the fork", s.stream, byref(graph))
    end("unjoined")
    begin()
    attempt("cuStreamWaitEvent recorded outside", s.capturing, s.event, 0)
    end("after waiting for what is outside")
    begin()
    fact("cuLaunchKernel null stream", s.launch(None))
    fact("cuLaunchKernel capturing", s.launch(s.capturing))
    end("after the null stream was used")
    blocking = new_stream(0)
    check("cuStreamBeginCapture_v2", blocking, 0)
    fact("cuLaunchKernel null stream beside a blocking capture", s.launch(None))
    fact("cuLaunchKernel blocking after that", s.launch(blocking))
    attempt("cuMemcpyHtoD_v2 beside a blocking capture", s.memory, s.host, 64)
    attempt("cuStreamEndCapture blocking", blocking, byref(graph))
    check("cuStreamBeginCapture_v2", blocking, 2)
    attempt("cuMemcpyHtoD_v2 beside a relaxed blocking capture", s.memory, s.host, 64)
    attempt("cuStreamSynchronize null stream beside a relaxed blocking capture", None)
    attempt("cuStreamEndCapture relaxed blocking", blocking, byref(graph))
    begin()
    check("cuEventRecord", s.captured, s.capturing)
    check("cuStreamBeginCapture_v2", s.stream, 0)
    attempt("cuStreamWaitEvent of another capture", s.stream, s.captured, 0)
    attempt("cuStreamEndCapture of the other", s.stream, byref(graph))
    end("after a merge was tried")
    begin()
    check("cuEventRecord", s.captured, s.capturing)
    end("with an event")
    attempt("cuEventQuery after its capture", s.captured)
    attempt("cuStreamWaitEvent after its capture", s.stream, s.captured, 0)
    begin()
    attempt("cuMemAllocAsync capturing", byref(s.out), 64, s.capturing)
    attempt("cuMemFreeAsync capturing", s.out, s.capturing)
    end("with an allocation")
    begin()
    attempt("cuStreamDestroy_v2 capturing", s.capturing)
    attempt("cuStreamIsCapturing destroyed", s.capturing, byref(status))


CONDITIONAL_NODE = 13
ASSIGN_DEFAULT = 1
IF, WHILE, SWITCH = 0, 1, 2
STEP = """.version 7.7
.target sm_75
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
// Counts, and sets the condition to whether the count is below the limit.
.visible .entry step(.param .u64 handle, .param .u64 counter, .param .u32 limit) {
    .reg .b64 %h, %c; .reg .b32 %n, %l, %v; .reg .pred %p;
    ld.param.u64 %h, [handle]; ld.param.u64 %c, [counter]; ld.param.u32 %l, [limit];
    ld.global.u32 %n, [%c]; add.u32 %n, %n, 1; st.global.u32 [%c], %n;
    setp.lt.u32 %p, %n, %l; selp.u32 %v, 1, 0, %p;
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %h; st.param.b32 [b], %v; call cudaGraphSetConditional, (a, b); }
    ret;
}
// Counts.
.visible .entry count(.param .u64 counter, .param .u32 step) {
    .reg .b64 %c; .reg .b32 %n, %s;
    ld.param.u64 %c, [counter]; ld.param.u32 %s, [step];
    ld.global.u32 %n, [%c]; add.u32 %n, %n, %s; st.global.u32 [%c], %n; ret;
}
"""


class NodeParams(ctypes.Structure):
    """CUgraphNodeParams with the conditional part of its union."""
    _fields_ = [("type", c_int), ("reserved", c_int * 3), ("handle", c_uint64), ("kind", c_uint), ("size", c_uint),
                ("bodies", ctypes.POINTER(c_void_p)), ("context", c_void_p), ("rest", c_uint64 * 25), ("zero", c_uint64)]


class KernelParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""
    _fields_ = [("function", c_void_p), ("dims", c_uint * 6), ("shared", c_uint), ("arguments", c_void_p),
                ("extra", c_void_p), ("kernel", c_void_p), ("context", c_void_p)]


class Conditions:
    """A graph with conditional nodes, and a counter that their bodies change."""

    def __init__(self):
        _, self.context = driver.start()
        module = driver.load(STEP)
        self.step, self.count = driver.function(module, "step"), driver.function(module, "count")
        self.counter = driver.upload(u32(0))
        self.stream = new_stream()
        self.new()

    def new(self):
        self.graph = c_void_p()
        check("cuGraphCreate", byref(self.graph), 0)

    def handle(self, default=0, flags=ASSIGN_DEFAULT):
        handle = c_uint64()
        check("cuGraphConditionalHandleCreate", byref(handle), self.graph, self.context, default, flags)
        return handle.value

    def node(self, handle, kind, size, code=False):
        """Adds a conditional node: its bodies, or the code of the attempt."""
        params, node = NodeParams(), c_void_p()
        params.type, params.handle, params.kind, params.size = CONDITIONAL_NODE, handle, kind, size
        params.context = self.context
        answer = call("cuGraphAddNode_v2", byref(node), self.graph, None, None, c_size_t(0), byref(params))
        if code:
            return answer
        if answer != 0:
            raise driver.DriverError("cuGraphAddNode_v2", answer)
        self.last = node
        return [c_void_p(params.bodies[at]) for at in range(size)]

    def kernel(self, graph, function, *arguments):
        buffers = [ctypes.create_string_buffer(argument, len(argument)) for argument in arguments]
        pointers = (c_void_p * len(buffers))(*[ctypes.addressof(buffer) for buffer in buffers])
        params, node = KernelParams(), c_void_p()
        params.function, params.dims[:] = function, [1] * 6
        params.arguments = ctypes.cast(pointers, c_void_p)
        check("cuGraphAddKernelNode_v2", byref(node), graph, None, c_size_t(0), byref(params))
        return node

    def instantiate(self, label):
        self.exec = c_void_p()
        return attempt(f"cuGraphInstantiateWithFlags {label}", byref(self.exec), self.graph, c_uint64(0))

    def launch(self, label):
        """Notes by how much one launch counts."""
        before = int.from_bytes(driver.download(self.counter, 4), "little")
        check("cuGraphLaunch", self.exec, self.stream)
        attempt(f"cuStreamSynchronize {label}", self.stream)
        fact(f"counted {label}", int.from_bytes(driver.download(self.counter, 4), "little") - before)


@probe
def conditional_nodes():
    c, out, node = Conditions(), c_uint64(), c_void_p()
    for flags in (0, 1, 2):
        attempt(f"cuGraphConditionalHandleCreate flags {flags}", byref(out), c.graph, c.context, 0, flags)
    attempt("cuGraphConditionalHandleCreate no context", byref(out), c.graph, None, 0, 1)
    for kind, size in ((IF, 0), (IF, 1), (IF, 2), (IF, 3), (WHILE, 0), (WHILE, 2), (SWITCH, 0), (SWITCH, 5), (3, 1)):
        fact(f"cuGraphAddNode_v2 kind {kind} size {size}", c.node(c.handle(), kind, size, code=True))
    fact("cuGraphAddNode_v2 handle 0", c.node(0, IF, 1, code=True))
    handle = c.handle()
    c.node(handle, IF, 1)
    fact("cuGraphAddNode_v2 handle used twice", c.node(handle, IF, 1, code=True))
    foreign = c.handle()
    c.new()
    fact("cuGraphAddNode_v2 handle of another graph", c.node(foreign, IF, 1, code=True))
    c.new()
    c.handle()
    c.instantiate("with an unused handle")
    c.new()
    c.node(c.handle(1), IF, 1)
    c.instantiate("with an empty body")
    check("cuGraphNodeGetType", c.last, byref(out))
    fact("type", out.value & 0xFFFFFFFF)
    attempt("cuGraphClone", byref(node), c.graph)
    child = c.graph
    c.new()
    attempt("cuGraphAddChildGraphNode", byref(node), c.graph, None, c_size_t(0), child)

    c.new()
    handle = c.handle(1)
    c.kernel(c.node(handle, WHILE, 1)[0], c.step, u64(handle), u64(c.counter), u32(5))
    c.instantiate("while")
    c.launch("while below 5")
    c.launch("while below 5 again")
    c.new()
    handle = c.handle(1, flags=0)
    c.kernel(c.node(handle, WHILE, 1)[0], c.step, u64(handle), u64(c.counter), u32(0))
    c.instantiate("while without default")
    c.launch("without default")
    for default in (0, 1, 7):
        c.new()
        bodies = c.node(c.handle(default), IF, 2)
        for at, body in enumerate(bodies):
            c.kernel(body, c.count, u64(c.counter), u32(100 * (at + 1)))
        c.instantiate(f"if {default}")
        c.launch(f"if {default}")
    for default in (0, 2, 3):
        c.new()
        bodies = c.node(c.handle(default), SWITCH, 3)
        for at, body in enumerate(bodies):
            c.kernel(body, c.count, u64(c.counter), u32(100 * (at + 1)))
        c.instantiate(f"switch {default}")
        c.launch(f"switch {default}")

    # What may be in a body.
    function = ctypes.CFUNCTYPE(None, c_void_p)(lambda _: None)
    host = (c_void_p * 2)(ctypes.cast(function, c_void_p), None)
    for label, add in {
        "empty": lambda body: call("cuGraphAddEmptyNode", byref(node), body, None, c_size_t(0)),
        "host": lambda body: call("cuGraphAddHostNode", byref(node), body, None, c_size_t(0), host),
        "event": lambda body: call("cuGraphAddEventRecordNode", byref(node), body, None, c_size_t(0), new_event()),
        "child": lambda body: call("cuGraphAddChildGraphNode", byref(node), body, None, c_size_t(0), child),
    }.items():
        c.new()
        body = c.node(c.handle(1), IF, 1)[0]
        fact(f"adding {label} to a body", add(body))
        c.instantiate(f"{label} in a body")
    c.new()
    body = c.node(c.handle(1), IF, 1)[0]
    attempt("cuStreamBeginCaptureToGraph body", c.stream, body, None, None, c_size_t(0), 2)
    arguments = [u64(c.counter), u32(3)]
    fact("cuLaunchKernel into a body", driver.launch_code(c.count, (1, 1, 1), (1, 1, 1), arguments, 0, c.stream))
    attempt("cuStreamEndCapture body", c.stream, byref(node))
    fact("the body is given back", node.value == body.value)
    c.instantiate("captured body")
    c.launch("captured body")
    attempt("cuGraphDestroy of a body", body)


@probe
def interprocess():
    """Memory and events for other processes, as far as one process can ask."""
    driver.start()
    s, handle, opened = Spare(), ctypes.create_string_buffer(64), c_uint64()
    attempt("cuIpcGetMemHandle", handle, c_uint64(s.memory))
    attempt("cuIpcGetMemHandle wild", handle, c_uint64(12345))
    attempt("cuIpcGetMemHandle of host memory", handle, c_uint64(s.pinned.value))
    attempt("cuIpcCloseMemHandle not open", c_uint64(s.memory))
    attempt("cuIpcGetEventHandle without the flag", handle, s.event)
    attempt("cuIpcGetEventHandle", handle, new_event(6))
    supported = c_int()
    check("cuDeviceGetAttribute", byref(supported), 125, device())
    fact("interprocess events supported", supported.value)


VISIBLE = {
    "empty": "", "first": "0", "first_twice": "0,0", "none": "-1", "first_then_none": "0,-1", "none_then_first": "-1,0",
    "beyond": "64", "beyond_then_first": "64,0", "first_then_beyond": "0,64", "twice_behind_beyond": "0,64,0",
    "word": "gpu", "first_then_word": "0,gpu", "word_in_number": "0x", "word_behind": "0abc", "blank": " 0",
    "blank_behind": "0 ", "two_zeros": "00", "plus": "+0", "comma_first": ",0", "commas": "0,,0", "comma_last": "0,",
    "uuid": "{uuid}", "uuid_upper": "{UUID}", "uuid_lower": "gpu-{bare}", "uuid_blank": " {uuid}",
    "uuid_prefix": "{uuid:.12}", "uuid_stem": "GPU-", "uuid_bare": "{bare}", "uuid_unknown": "GPU-ffffffff",
    "uuid_twice": "{uuid},{uuid}", "uuid_and_number": "{uuid},0", "number_and_uuid": "0,{uuid}",
    "uuid_then_beyond": "{uuid},64", "mig": "MIG-0", "all": "all", "no_dev_files": "NoDevFiles",
}


def uuid_text():
    """How the first device is called in CUDA_VISIBLE_DEVICES."""
    driver.start()
    raw = ctypes.create_string_buffer(16)
    check("cuDeviceGetUuid_v2", raw, device())
    digits = raw.raw.hex()
    return "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@family(VISIBLE)
def visible_devices(name):
    uuid = subprocess.run(
        [sys.executable, __file__, "--uuid"], capture_output=True, timeout=SECONDS_PER_PROBE, check=True).stdout.decode().strip()
    os.environ["CUDA_VISIBLE_DEVICES"] = VISIBLE[name].format(uuid=uuid, UUID=uuid.upper(), bare=uuid[4:])
    count, out = c_int(-1), c_int()
    attempt("cuInit", 0)
    attempt("cuDeviceGetCount", byref(count))
    fact("devices", count.value)
    attempt("cuDeviceGet first", byref(out), 0)
    attempt("cuInit again", 0)


@probe
def modules():
    driver.start()
    out, size = c_uint64(), c_size_t()
    good = ptx("vector_add")

    def load(label, image):
        log = ctypes.create_string_buffer(4096)
        options, values = (c_int * 2)(5, 6), (c_void_p * 2)(ctypes.addressof(log), 4096)
        code = call("cuModuleLoadDataEx", byref(out), image, 2, options, values)
        fact(f"load {label}", [code, log.value.decode(errors="replace")[:300]])

    load("good", good.encode())
    load("empty", b"")
    load("garbage", b"garbage")
    load("binary garbage", bytes(range(1, 200)))
    load("elf magic and garbage", b"\x7fELF" + bytes(100))
    load("no version", good.replace(".version 7.7", "").encode())
    load("version 99.9", good.replace(".version 7.7", ".version 99.9").encode())
    load("version 7", good.replace(".version 7.7", ".version 7").encode())
    load("target sm_100", good.replace(".target sm_75", ".target sm_100").replace("7.7", "8.6").encode())
    load("target sm_90a", good.replace(".target sm_75", ".target sm_90a").replace("7.7", "8.0").encode())
    load("target sm_9999", good.replace(".target sm_75", ".target sm_9999").encode())
    load("target needs a newer version", good.replace(".target sm_75", ".target sm_90").encode())
    load("target sm_30", good.replace(".target sm_75", ".target sm_30").encode())
    load("address size 32", good.replace(".address_size 64", ".address_size 32").encode())
    load("unknown instruction", good.replace("add.f32", "addd.f32").encode())
    load("unknown register", good.replace("%f3;", "%f99;").encode())
    load("syntax error", good.replace("ret;", "ret").encode())
    load("truncated", good[: len(good) * 3 // 4].encode())
    load("unresolved call", (good + ".extern .func missing();\n.visible .entry calls() { call missing; ret; }\n").encode())
    load("unresolved variable", (
        good + ".extern .global .u32 missing;\n"
        ".visible .entry reads() { .reg .b32 %r; ld.global.u32 %r, [missing]; st.global.u32 [missing], %r; ret; }\n"
    ).encode())
    attempt("cuModuleLoadData null", byref(out), None)
    attempt("cuModuleLoad absent file", byref(out), b"/nonexistent.ptx")
    attempt("cuModuleLoadFatBinary of PTX", byref(out), good.encode())
    module = driver.load(ptx("stencil"))
    attempt("cuModuleGetFunction absent", byref(out), module, b"absent")
    attempt("cuModuleGetFunction empty name", byref(out), module, b"")
    attempt("cuModuleGetFunction null name", byref(out), module, None)
    attempt("cuModuleGetFunction name of a global", byref(out), module, b"stencil_coefficients")
    attempt("cuModuleGetGlobal_v2 absent", byref(out), byref(size), module, b"absent")
    attempt("cuModuleGetGlobal_v2 name of a function", byref(out), byref(size), module, b"stencil")
    attempt("cuModuleGetGlobal_v2 size only", None, byref(size), module, b"stencil_coefficients")
    fact("size of stencil_coefficients", size.value)
    attempt("cuModuleGetGlobal_v2 null outputs", None, None, module, b"stencil_coefficients")
    module = driver.load(ptx("signatures"))
    for name in ("no_arguments", "mixed_scalars", "vector_after_pointer", "structure_by_value", "large_structure",
                 "many_pointers"):
        handle, layout = driver.function(module, name), []
        for index in range(18):
            offset, extent = c_size_t(), c_size_t()
            code = call("cuFuncGetParamInfo", handle, index, byref(offset), byref(extent))
            layout.append([offset.value, extent.value] if code == 0 else code)
            if code != 0:
                break
        fact(f"cuFuncGetParamInfo {name}", layout)
    attempt("cuFuncGetParamInfo null size", handle, 0, byref(size), None)


@probe
def attributes():
    driver.start()
    number, extent, text = c_int(), c_size_t(), ctypes.create_string_buffer(256)
    values = {}
    for attribute in range(1, 160):
        code = call("cuDeviceGetAttribute", byref(number), attribute, device())
        values[attribute] = number.value if code == 0 else f"code {code}"
    fact("cuDeviceGetAttribute", values)
    for code in (0, 1, 2, 3, 100, 201, 209, 218, 222, 400, 500, 600, 700, 701, 702, 710, 714, 715, 716, 717, 718, 719,
                 720, 801, 999, 12345, -1):
        name, words = ctypes.c_char_p(), ctypes.c_char_p()
        answers = [call("cuGetErrorName", code, byref(name)), call("cuGetErrorString", code, byref(words))]
        fact(f"error {code}", answers + [name.value.decode() if name.value else None])
    attempt("cuDeviceGet negative", byref(number), -1)
    attempt("cuDeviceGet beyond", byref(number), 64)
    attempt("cuDeviceGetAttribute unknown", byref(number), 9999, device())
    attempt("cuDeviceGetAttribute bad device", byref(number), 1, 64)
    attempt("cuDeviceGetName short", text, 4, device())
    fact("short name", text.value.decode())
    attempt("cuDeviceGetName length 0", text, 0, device())
    for limit in range(0, 10):
        code = call("cuCtxGetLimit", byref(extent), limit)
        fact(f"cuCtxGetLimit {limit}", [code, extent.value])
    for limit, size in ((0, 4096), (0, 1 << 30), (0, 0), (1, 1 << 16), (2, 1 << 20), (77, 1)):
        attempt(f"cuCtxSetLimit {limit} to {size}", limit, size)
        code = call("cuCtxGetLimit", byref(extent), limit)
        fact(f"cuCtxGetLimit {limit} after {size}", [code, extent.value])
    context = c_void_p()
    check("cuCtxGetCurrent", byref(context))
    version = c_uint()
    check("cuCtxGetApiVersion", context, byref(version))
    fact("cuCtxGetApiVersion of the primary context", version.value)
    for flags in (0, 1, 2, 4, 8, 16, 3, 256):
        created = c_void_p()
        code = attempt(f"cuCtxCreate_v2 flags {flags}", byref(created), flags, device())
        if code == 0:
            check("cuCtxGetFlags", byref(number))
            fact(f"cuCtxGetFlags after {flags}", number.value)
            check("cuCtxGetApiVersion", created, byref(version))
            fact(f"cuCtxGetApiVersion after {flags}", version.value)
            check("cuCtxDestroy_v2", created)
    check("cuCtxSetCurrent", context)
    active = c_int()
    flags = c_uint()
    check("cuDevicePrimaryCtxGetState", device(), byref(flags), byref(active))
    fact("primary context flags and state", [flags.value, active.value])
    attempt("cuDevicePrimaryCtxSetFlags_v2 while active", device(), 4)
    attempt("cuDevicePrimaryCtxRelease_v2", device())
    attempt("cuDevicePrimaryCtxRelease_v2 once too often", device())
    attempt("cuCtxSynchronize after the release")
    attempt("cuCtxDestroy_v2 of a primary context", context)
    present = {name: getattr(driver.cuda, name, None) is not None for name in (
        "cuCtxCreate", "cuCtxCreate_v2", "cuCtxCreate_v3", "cuCtxCreate_v4", "cuCtxDetach", "cuFuncGetParamInfo",
        "cuKernelGetParamInfo", "cuEventElapsedTime_v2", "cuDevicePrimaryCtxReset_v2", "cuTexRefCreate",
        "cuLaunchGrid", "cuParamSetv", "cuMemAlloc", "cuGetProcAddress", "cuGetProcAddress_v2", "cuLaunchKernelEx")}
    fact("exported", present)
    for name in ("vector_add", "matmul_tiled", "nbody", "transpose", "faults"):
        kernel = "recurse" if name == "faults" else name
        try:
            check("cuDevicePrimaryCtxRetain", byref(context), device())
            check("cuCtxSetCurrent", context)
            handle, answers = driver.function(driver.load(ptx(name)), kernel), {}
            for attribute in range(0, 16):
                code = call("cuFuncGetAttribute", byref(number), attribute, handle)
                answers[attribute] = number.value if code == 0 else f"code {code}"
            fact(f"cuFuncGetAttribute {kernel}", answers)
        except driver.DriverError as error:
            fact(f"cuFuncGetAttribute {kernel}", str(error))


@probe
def before_init():
    out = c_uint64()
    for name in ("cuDriverGetVersion", "cuDeviceGetCount"):
        attempt(name, byref(out))
    attempt("cuDeviceGet", byref(out), 0)
    attempt("cuCtxGetCurrent", byref(out))
    attempt("cuCtxSetCurrent null", None)
    attempt("cuMemAlloc_v2", byref(out), 64)
    attempt("cuMemFree_v2 null", 0)
    attempt("cuCtxSynchronize")
    attempt("cuInit flags 1", 1)
    attempt("cuInit", 0)
    attempt("cuInit again", 0)
    attempt("cuMemAlloc_v2 no context", byref(out), 64)
    attempt("cuCtxSynchronize no context")


@probe
def forked_child():
    driver.start()
    world = World()
    child = os.fork()
    if child == 0:
        out = c_uint64()
        attempt("cuInit in the child", 0)
        attempt("cuCtxGetCurrent in the child", byref(out))
        attempt("cuCtxSynchronize in the child")
        attempt("cuMemAlloc_v2 in the child", byref(out), 64)
        attempt("cuMemFree_v2 in the child", world.memory)
        attempt("cuStreamDestroy_v2 in the child", world.stream)
        attempt("cuEventDestroy_v2 in the child", world.event)
        attempt("cuModuleUnload in the child", world.module)
        os._exit(0)
    os.waitpid(child, 0)
    attempt("cuCtxSynchronize in the parent")
    fact("parent works", works())


if __name__ == "__main__":
    if sys.argv[1] == "--uuid":
        print(uuid_text())
    else:
        run(*sys.argv[1:])
