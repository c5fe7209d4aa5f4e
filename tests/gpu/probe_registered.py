"""Host memory that the program registers: bytes and pages of it, parts that overlap, and other memory."""

import ctypes
import mmap
from ctypes import byref, c_uint64, c_void_p

import driver
from driver import call, check
from probes import attempt, fact, family, probe

PAGE = 4096
READ = """.version 7.0
.target sm_70
.address_size 64
.visible .entry read(.param .u64 from, .param .u64 to) {
    .reg .b64 %from, %to; .reg .b32 %n;
    ld.param.u64 %from, [from]; ld.param.u64 %to, [to]; ld.global.u32 %n, [%from]; st.global.u32 [%to], %n; ret;
}
"""
KEPT = []


def pages(count=8):
    """Returns the address of the second of several pages of one mapping."""
    mapping = mmap.mmap(-1, count * PAGE)
    KEPT.append(mapping)
    mapping[:] = bytes(range(256)) * (count * PAGE // 256)
    return ctypes.addressof(ctypes.c_char.from_buffer(mapping)) + PAGE


def register(label, address, size):
    return attempt(f"cuMemHostRegister_v2 {label}", c_void_p(address), ctypes.c_size_t(size), 2)


def unregister(label, address):
    return attempt(f"cuMemHostUnregister {label}", c_void_p(address))


@probe
def registered_parts():
    """Ranges are kept by bytes, and may share a page."""
    driver.start()
    page, out, number = pages(), c_uint64(), c_uint64()
    register("64 bytes", page + 64, 64)
    for offset in (0, 63, 64, 127, 128, PAGE - 1):
        attempt(f"cuMemHostGetDevicePointer_v2 at {offset}", byref(out), c_void_p(page + offset), 0)
        attempt(f"cuPointerGetAttribute type at {offset}", byref(number), 2, c_uint64(page + offset))
    for label, offset, size in (("the same", 64, 64), ("inside", 80, 8), ("over the start", 0, 65),
                                ("over the end", 100, 64), ("around", 0, PAGE), ("the next bytes", 128, 64),
                                ("another part of the page", 1024, 64), ("into the next page", 2048, PAGE)):
        register(label, page + offset, size)
    unregister("inside", page + 80)
    unregister("at the page", page)
    unregister("the first", page + 64)
    unregister("the first again", page + 64)
    attempt("cuMemHostGetDevicePointer_v2 of another part", byref(out), c_void_p(page + 1024), 0)


@probe
def registered_copies():
    """Copies and fills end with the range, not with its page."""
    driver.start()
    page, buffer = pages(), ctypes.create_string_buffer(64)
    register("64 bytes", page + 64, 64)
    for label, offset in (("inside", 64), ("over the end", 120), ("in front", 0)):
        attempt(f"cuMemcpyDtoH_v2 {label}", buffer, c_uint64(page + offset), 16)
        attempt(f"cuMemsetD8_v2 {label}", c_uint64(page + offset), 7, 16)


@probe
def registered_other_memory():
    """Memory that the driver allocated is no memory to register."""
    driver.start()
    pinned, managed, device = c_void_p(), c_uint64(), driver.allocate(PAGE)
    check("cuMemHostAlloc", byref(pinned), PAGE, 2)
    check("cuMemAllocManaged", byref(managed), PAGE, 1)
    pinned = pinned.value
    for label, address, size in (("pinned memory", pinned, PAGE), ("a part of pinned memory", pinned + 64, 64),
                                 ("managed memory", managed.value, PAGE),
                                 ("a part of managed memory", managed.value + 64, 64),
                                 ("device memory", device, PAGE)):
        register(label, address, size)
        unregister(label, address)


@family([0, 60, 128, 2048, PAGE - 4])
def registered_page(offset):
    """A kernel reads the page of 64 registered bytes at 64."""
    driver.start()
    page, to = pages(), driver.allocate(4)
    register("64 bytes", page + 64, 64)
    module = driver.load(READ)
    arguments = [number.to_bytes(8, "little") for number in (page + offset, to)]
    driver.launch(driver.function(module, "read"), (1, 1, 1), (1, 1, 1), arguments)
    attempt("cuCtxSynchronize")
    read = ctypes.create_string_buffer(4)
    if attempt("cuMemcpyDtoH_v2", read, c_uint64(to), 4) == 0:
        fact("reads the host's bytes", read.raw == ctypes.string_at(page + offset, 4))
