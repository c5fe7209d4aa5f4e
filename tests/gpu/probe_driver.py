#!/usr/bin/env python3
"""What the driver answers to mistakes and edge cases, each probe in a process of its own.

    python3 tests/gpu/probe_driver.py OUTPUT.json     runs every probe, several at a time
    python3 tests/gpu/probe_driver.py --probe NAME    runs one; prints a line of JSON as soon as it knows a fact

A fact is a label and an integer code, a value or a list. A probe that crashes or hangs keeps the facts it had
printed, and a fact "ended" says how it ended.
"""

import concurrent.futures
import ctypes
import json
import os
import pathlib
import subprocess
import sys
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

import driver
from driver import call, check

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"
SECONDS_PER_PROBE = 40
WORKERS = 6
PROBES = {}


def probe(function):
    PROBES[function.__name__] = function
    return function


def family(names):
    """Registers a probe once for each name, which becomes its argument."""
    def register(function):
        for name in names:
            PROBES[f"{function.__name__}.{name}"] = lambda name=name: function(name)
        return function
    return register


def fact(label, content):
    print(json.dumps([label, content]), flush=True)


def attempt(label, *arguments):
    """Calls the function that the label starts with and notes its code."""
    code = call(label.split()[0], *arguments)
    fact(label, code)
    return code


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


def new_stream(flags=0):
    stream = c_void_p()
    check("cuStreamCreate", byref(stream), flags)
    return stream


def new_event(flags=0):
    event = c_void_p()
    check("cuEventCreate", byref(event), flags)
    return event


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


def run_probe(name):
    """Runs one probe in a process of its own and gathers its facts."""
    command = [sys.executable, __file__, "--probe", name]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_PER_PROBE, check=False)
        output, errors = done.stdout, done.stderr
        ending = None if done.returncode == 0 else f"exit status {done.returncode}"
    except subprocess.TimeoutExpired as expired:
        output, errors, ending = expired.stdout or b"", expired.stderr or b"", "timeout"
    facts = dict(json.loads(line) for line in output.decode(errors="replace").splitlines() if line.startswith("["))
    if ending:
        facts["ended"] = ending
    if errors:
        facts["standard error"] = errors.decode(errors="replace")[-600:]
    return name, facts


def main(path):
    result = {"provenance": json.loads(subprocess.run(
        [sys.executable, __file__, "--describe"], capture_output=True, timeout=SECONDS_PER_PROBE, check=True).stdout)}
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for name, facts in pool.map(run_probe, PROBES):
            result[name] = facts
            path.write_text(json.dumps(result, indent=1) + "\n")
            print(f"{name}: {len(facts)} facts{', ' + facts['ended'] if 'ended' in facts else ''}")


if __name__ == "__main__":
    if sys.argv[1] == "--probe":
        PROBES[sys.argv[2]]()
    elif sys.argv[1] == "--describe":
        driver.start()
        print(json.dumps(driver.describe()))
    else:
        main(pathlib.Path(sys.argv[1]))
