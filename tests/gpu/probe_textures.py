#!/usr/bin/env python3
"""What the driver answers about arrays, textures and surfaces; probes.py says how probes work.

    python3 tests/gpu/probe_textures.py OUTPUT.json     only these probes; probe_driver.py runs them with its own
"""

import ctypes
import struct
import sys
from ctypes import byref, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p

import driver
from driver import check
from probes import attempt, fact, family, probe, run

U8, U16, U32, S8, F16, F32 = 1, 2, 3, 8, 16, 32
LAYERED, SURFACE, CUBE, GATHER, DEPTH, COLOR, SPARSE, DEFERRED = 1, 2, 4, 8, 16, 32, 64, 128
CLAMP, POINT, LINEAR = 1, 0, 1

for name, types in {
    "cuTexObjectDestroy": [c_uint64], "cuSurfObjectDestroy": [c_uint64],
    "cuTexObjectGetResourceDesc": [c_void_p, c_uint64], "cuTexObjectGetTextureDesc": [c_void_p, c_uint64],
    "cuTexObjectGetResourceViewDesc": [c_void_p, c_uint64], "cuSurfObjectGetResourceDesc": [c_void_p, c_uint64],
    "cuMemcpyHtoA_v2": [c_void_p, c_size_t, c_void_p, c_size_t],
    "cuMemcpyAtoH_v2": [c_void_p, c_void_p, c_size_t, c_size_t],
    "cuMemcpyAtoA_v2": [c_void_p, c_size_t, c_void_p, c_size_t, c_size_t],
    "cuMemcpyDtoA_v2": [c_void_p, c_size_t, c_uint64, c_size_t],
    "cuMemcpyAtoD_v2": [c_uint64, c_void_p, c_size_t, c_size_t],
}.items():
    if hasattr(driver.cuda, name):
        getattr(driver.cuda, name).argtypes = types


def shape_2d(width, height, format=F32, channels=1):
    return struct.pack("<QQII", width, height, format, channels)


def shape_3d(width, height=0, depth=0, format=F32, channels=1, flags=0):
    return struct.pack("<3Q4I", width, height, depth, format, channels, flags, 0)


def new_array(*arguments, **keywords):
    array = c_void_p()
    check("cuArray3DCreate_v2", byref(array), shape_3d(*arguments, **keywords))
    return array


def new_mipmap(levels, *arguments, **keywords):
    mipmap = c_void_p()
    check("cuMipmappedArrayCreate", byref(mipmap), shape_3d(*arguments, **keywords), levels)
    return mipmap


def resource(kind, content, flags=0):
    return struct.pack("<II", kind, 0) + content.ljust(128, b"\0") + struct.pack("<II", flags, 0)


def of_array(array, flags=0):
    return resource(0, struct.pack("<Q", array.value or 0), flags)


def of_mipmap(mipmap):
    return resource(1, struct.pack("<Q", mipmap.value or 0))


def of_linear(pointer, size, format=F32, channels=1):
    return resource(2, struct.pack("<QIIQ", pointer, format, channels, size))


def of_pitched(pointer, width, height, pitch, format=F32, channels=1):
    return resource(3, struct.pack("<QII3Q", pointer, format, channels, width, height, pitch))


def sampling(modes=(CLAMP,) * 3, filter=POINT, flags=0, anisotropy=0, mip_filter=POINT, bias=0.0, least=0.0, most=0.0,
             border=(0.0,) * 4, reserved=0):
    return struct.pack("<7I3f4f12I", *modes, filter, flags, anisotropy, mip_filter, bias, least, most, *border, reserved,
                       *[0] * 11)


def view(format, width, height=0, depth=0, first_level=0, last_level=0, first_layer=0, last_layer=0):
    return struct.pack("<II3Q4I16I", format, 0, width, height, depth, first_level, last_level, first_layer, last_layer,
                       *[0] * 16)


def new_texture(described, sampled=None, viewed=None):
    texture = c_uint64()
    check("cuTexObjectCreate", byref(texture), described, sampled or sampling(), viewed)
    return texture


def new_surface(array):
    surface = c_uint64()
    check("cuSurfObjectCreate", byref(surface), of_array(array))
    return surface


def answer(label, out, *arguments):
    """Notes the code of a creation, and whether it gave a handle."""
    code = driver.call(label.split()[0], byref(out), *arguments)
    fact(label, [code, bool(out.value)])
    return code


# Arrays

SHAPES = {
    "1d": (4,), "1d of one": (1,), "no width": (0,), "no width, height": (0, 4), "2d": (4, 4), "3d": (4, 4, 4),
    "depth without height": (4, 0, 4), "format 0": (4, 4, 0, 0), "format 5": (4, 4, 0, 5), "format 4": (4, 4, 0, 4),
    "format nv12": (4, 4, 0, 176), "format unorm8x1": (4, 4, 0, 192, 1), "format unorm8x1, 4 channels": (4, 4, 0, 192, 4),
    "format unorm8x4": (4, 4, 0, 194, 4), "format bc1": (4, 4, 0, 145, 4), "format 1000": (4, 4, 0, 1000),
    "no channels": (4, 4, 0, F32, 0), "2 channels": (4, 4, 0, F32, 2), "3 channels": (4, 4, 0, F32, 3),
    "4 channels": (4, 4, 0, F32, 4), "5 channels": (4, 4, 0, F32, 5),
    "1d layered": (4, 0, 3, F32, 1, LAYERED), "2d layered": (4, 4, 3, F32, 1, LAYERED),
    "layered without layers": (4, 4, 0, F32, 1, LAYERED), "1d layered without layers": (4, 0, 0, F32, 1, LAYERED),
    "cube": (4, 4, 6, F32, 1, CUBE), "cube of 5": (4, 4, 5, F32, 1, CUBE), "cube of 12": (4, 4, 12, F32, 1, CUBE),
    "cube not square": (4, 8, 6, F32, 1, CUBE), "cube without height": (4, 0, 6, F32, 1, CUBE),
    "cube without depth": (4, 4, 0, F32, 1, CUBE),
    "layered cube": (4, 4, 12, F32, 1, CUBE | LAYERED), "layered cube of 6": (4, 4, 6, F32, 1, CUBE | LAYERED),
    "layered cube of 7": (4, 4, 7, F32, 1, CUBE | LAYERED),
    "surface 1d": (4, 0, 0, F32, 1, SURFACE), "surface 2d": (4, 4, 0, F32, 1, SURFACE),
    "surface cube": (4, 4, 6, F32, 1, CUBE | SURFACE),
    "gather 1d": (4, 0, 0, F32, 1, GATHER), "gather 2d": (4, 4, 0, F32, 1, GATHER),
    "gather 3d": (4, 4, 4, F32, 1, GATHER), "gather layered": (4, 4, 3, F32, 1, GATHER | LAYERED),
    "gather cube": (4, 4, 6, F32, 1, GATHER | CUBE), "gather surface": (4, 4, 0, F32, 1, GATHER | SURFACE),
    "depth": (4, 4, 0, F32, 1, DEPTH), "depth u8": (4, 4, 0, U8, 1, DEPTH), "color": (4, 4, 0, F32, 1, COLOR),
    "sparse": (4, 4, 0, F32, 1, SPARSE), "deferred": (4, 4, 0, F32, 1, DEFERRED), "flag 0x200": (4, 4, 0, F32, 1, 0x200),
    "flag 0x80000000": (4, 4, 0, F32, 1, 0x80000000),
    "1d widest": (131072, 0, 0, U8), "1d too wide": (131073, 0, 0, U8),
    "2d widest": (131072, 1, 0, U8), "2d too wide": (131073, 1, 0, U8), "2d highest": (1, 65536, 0, U8),
    "2d too high": (1, 65537, 0, U8),
    "3d widest": (16384, 1, 1, U8), "3d too wide": (16385, 1, 1, U8), "3d too high": (1, 16385, 1, U8),
    "3d too deep": (1, 1, 16385, U8),
    "1d layered most": (1, 0, 2048, U8, 1, LAYERED), "1d layered too many": (1, 0, 2049, U8, 1, LAYERED),
    "1d layered too wide": (32769, 0, 2, U8, 1, LAYERED), "2d layered too many": (1, 1, 2049, U8, 1, LAYERED),
    "2d layered too wide": (32769, 1, 2, U8, 1, LAYERED),
    "cube too wide": (32769, 32769, 6, U8, 1, CUBE), "layered cube too many": (1, 1, 2052, U8, 1, LAYERED | CUBE),
    "layered cube most": (1, 1, 2046, U8, 1, LAYERED | CUBE),
    "surface 1d too wide": (32769, 0, 0, U8, 1, SURFACE), "surface 2d wider": (65537, 1, 0, U8, 1, SURFACE),
    "surface 2d higher": (1, 65537, 0, U8, 1, SURFACE), "gather too wide": (32769, 1, 0, U8, 1, GATHER),
    "overflow": (2**62, 4, 4), "far too large": (131072, 65536, 0, F32, 4),
}


@probe
def array_shapes():
    driver.start()
    for label, arguments in SHAPES.items():
        array = c_void_p()
        if answer(f"cuArray3DCreate_v2 {label}", array, shape_3d(*arguments)) == 0:
            back = ctypes.create_string_buffer(40)
            code = driver.call("cuArray3DGetDescriptor_v2", back, array)
            fact(f"{label}: described", [code, *struct.unpack("<3Q3I", back.raw[:36])])
            back = ctypes.create_string_buffer(24)
            fact(f"{label}: described flat", [driver.call("cuArrayGetDescriptor_v2", back, array),
                                              *struct.unpack("<2Q2I", back.raw)])
            attempt(f"cuArrayDestroy {label}", array)


@probe
def array_calls():
    driver.start()
    array = c_void_p()
    for label, arguments in {"1d": (4, 0), "2d": (4, 3), "no width": (0, 3), "format 0": (4, 3, 0),
                             "3 channels": (4, 3, F32, 3), "too wide": (131073, 1, U8)}.items():
        answer(f"cuArrayCreate_v2 {label}", c_void_p(), shape_2d(*arguments))
    attempt("cuArrayCreate_v2 no place", None, shape_2d(4, 4))
    attempt("cuArrayCreate_v2 no descriptor", byref(array), None)
    attempt("cuArray3DCreate_v2 no place", None, shape_3d(4))
    attempt("cuArray3DCreate_v2 no descriptor", byref(array), None)
    array = new_array(4, 4)
    attempt("cuArrayGetDescriptor_v2 no place", None, array)
    attempt("cuArray3DGetDescriptor_v2 no place", None, array)
    attempt("cuArrayGetDescriptor_v2 null", ctypes.create_string_buffer(24), None)
    attempt("cuArray3DGetDescriptor_v2 null", ctypes.create_string_buffer(40), None)
    out = ctypes.create_string_buffer(64)
    attempt("cuArrayGetSparseProperties", out, array)
    attempt("cuArrayGetMemoryRequirements", out, array, 0)
    attempt("cuArrayGetPlane", byref(c_void_p()), array, 0)
    attempt("cuArrayDestroy null", None)
    attempt("cuArrayDestroy", array)


@probe
def array_copies():
    driver.start()
    line, plane, layered = new_array(16, format=U8), new_array(16, 4, format=U8), new_array(16, 4, 3, U8, 1, LAYERED)
    host = ctypes.create_string_buffer(1024)
    memory = driver.allocate(1024)
    attempt("cuMemcpyHtoA_v2 whole", line, 0, host, 16)
    attempt("cuMemcpyHtoA_v2 offset", line, 4, host, 12)
    attempt("cuMemcpyHtoA_v2 past the end", line, 4, host, 13)
    attempt("cuMemcpyHtoA_v2 offset past the end", line, 16, host, 1)
    attempt("cuMemcpyHtoA_v2 nothing", line, 0, host, 0)
    attempt("cuMemcpyHtoA_v2 null", None, 0, host, 16)
    attempt("cuMemcpyHtoA_v2 a row of many", plane, 0, host, 16)
    attempt("cuMemcpyHtoA_v2 two rows", plane, 0, host, 32)
    attempt("cuMemcpyHtoA_v2 second row", plane, 16, host, 16)
    attempt("cuMemcpyHtoA_v2 layered", layered, 0, host, 16)
    attempt("cuMemcpyAtoH_v2 whole", host, line, 0, 16)
    attempt("cuMemcpyAtoH_v2 past the end", host, line, 8, 9)
    attempt("cuMemcpyDtoA_v2 whole", line, 0, memory, 16)
    attempt("cuMemcpyAtoD_v2 whole", memory, line, 0, 16)
    attempt("cuMemcpyAtoD_v2 past the end", memory, line, 0, 17)
    attempt("cuMemcpyAtoA_v2 whole", line, 0, plane, 0, 16)
    attempt("cuMemcpyAtoA_v2 past the end", line, 8, plane, 0, 16)

    def copy(label, array, x=0, y=0, z=0, width=16, height=4, depth=1, level=0):
        ends = (0, 0, 0, 0, 1, ctypes.addressof(host), 0, 0, 0, 16, 4, x, y, z, level, 3, 0, 0, array.value, 0, 0, 0)
        attempt(f"cuMemcpy3D_v2 {label}", struct.pack("<25Q", *ends, width, height, depth))

    copy("plane", plane)
    copy("plane, too wide", plane, width=17)
    copy("plane, at x, too wide", plane, x=1)
    copy("plane, too high", plane, height=5)
    copy("plane, too deep", plane, depth=2)
    copy("plane, at z", plane, z=1)
    copy("plane, at level", plane, level=1)
    copy("layered", layered, depth=3)
    copy("layered, too deep", layered, z=1, depth=3)
    copy("no width", plane, width=0)
    copy("no height", plane, height=0)
    copy("no depth", plane, depth=0)
    floats = new_array(4, 4)
    copy("part of an element", floats, width=6)
    copy("at part of an element", floats, x=2, width=4)
    flat = [0, 0, 1, ctypes.addressof(host), 0, 0, 16, 0, 0, 3, 0, 0, plane.value, 0, 16, 4]
    attempt("cuMemcpy2D_v2 plane", struct.pack("<16Q", *flat))
    attempt("cuMemcpy2D_v2 plane, too high", struct.pack("<16Q", *flat[:15], 5))
    attempt("cuMemcpy2D_v2 layered", struct.pack("<16Q", *flat[:12], layered.value, *flat[13:]))


@probe
def mipmap_calls():
    driver.start()
    for label, (levels, *arguments) in {
        "one level": (1, 16, 8), "no level": (0, 16, 8), "all levels": (5, 16, 8), "a level too many": (6, 16, 8),
        "100 levels": (100, 16, 8), "1d": (5, 16), "3d": (5, 16, 8, 4), "layered": (5, 16, 8, 3, F32, 1, LAYERED),
        "cube": (4, 8, 8, 6, F32, 1, CUBE), "surface": (4, 8, 8, 0, F32, 1, SURFACE),
        "gather": (4, 8, 8, 0, F32, 1, GATHER), "1d too wide": (2, 32769), "2d too wide": (2, 32769, 4),
        "no width": (1, 0, 8), "3 channels": (1, 8, 8, 0, F32, 3), "format 0": (1, 8, 8, 0, 0),
    }.items():
        mipmap = c_void_p()
        if answer(f"cuMipmappedArrayCreate {label}", mipmap, shape_3d(*arguments), levels) == 0:
            for level in range(7):
                array = c_void_p()
                if answer(f"cuMipmappedArrayGetLevel {label} {level}", array, mipmap, level) == 0:
                    back = ctypes.create_string_buffer(40)
                    code = driver.call("cuArray3DGetDescriptor_v2", back, array)
                    fact(f"{label} {level}: described", [code, *struct.unpack("<3Q3I", back.raw[:36])])
            attempt(f"cuMipmappedArrayDestroy {label}", mipmap)
    mipmap, first, second = new_mipmap(3, 16, 8), c_void_p(), c_void_p()
    check("cuMipmappedArrayGetLevel", byref(first), mipmap, 1)
    check("cuMipmappedArrayGetLevel", byref(second), mipmap, 1)
    fact("a level has the same handle each time", first.value == second.value)
    attempt("cuArrayDestroy of a level", first)
    attempt("cuMipmappedArrayGetLevel after that", byref(second), mipmap, 1)
    attempt("cuMipmappedArrayGetLevel no place", None, mipmap, 0)
    attempt("cuMipmappedArrayGetLevel null", byref(first), None, 0)
    attempt("cuMipmappedArrayCreate no place", None, shape_3d(8), 1)
    attempt("cuMipmappedArrayCreate no descriptor", byref(first), None, 1)
    out = ctypes.create_string_buffer(64)
    attempt("cuMipmappedArrayGetSparseProperties", out, mipmap)
    attempt("cuMipmappedArrayGetMemoryRequirements", out, mipmap, 0)
    attempt("cuMipmappedArrayDestroy null", None)


# Objects

@probe
def texture_resources():
    driver.start()
    line, plane, cube = new_array(16), new_array(16, 8), new_array(8, 8, 6, F32, 1, CUBE)
    mipmap = new_mipmap(4, 16, 8)
    memory = driver.allocate(1 << 20)
    level = c_void_p()
    check("cuMipmappedArrayGetLevel", byref(level), mipmap, 1)
    null = c_void_p()
    for label, described in {
        "array": of_array(line), "plane": of_array(plane), "level": of_array(level), "null array": of_array(null),
        "array, flags": of_array(line, 1), "kind 4": resource(4, struct.pack("<Q", line.value)),
        "kind 100": resource(100, b""), "null mipmap": of_mipmap(null), "mipmap": of_mipmap(mipmap),
        "linear": of_linear(memory, 1024), "linear null": of_linear(0, 1024), "linear, no bytes": of_linear(memory, 0),
        "linear, part of a texel": of_linear(memory, 1022), "linear, less than a texel": of_linear(memory, 3),
        "linear at 16": of_linear(memory + 16, 1024), "linear at 256": of_linear(memory + 256, 1024),
        "linear at 512": of_linear(memory + 512, 1024), "linear, 3 channels": of_linear(memory, 1024, channels=3),
        "linear, format 0": of_linear(memory, 1024, format=0), "linear, past the end": of_linear(memory, 1 << 22),
        "linear, wild": of_linear(0x123450000, 1024), "linear, too many": of_linear(memory, (1 << 27) * 4 + 4),
        "linear, far too many": of_linear(memory, (1 << 28) * 4 + 4), "linear, u8 too many": of_linear(memory, (1 << 28) + 1, U8),
        "pitched": of_pitched(memory, 16, 8, 64), "pitched null": of_pitched(0, 16, 8, 64),
        "pitched, no width": of_pitched(memory, 0, 8, 64), "pitched, no height": of_pitched(memory, 16, 0, 64),
        "pitched, pitch of 16": of_pitched(memory, 4, 8, 16), "pitched, pitch of 32": of_pitched(memory, 4, 8, 32),
        "pitched, pitch of 48": of_pitched(memory, 4, 8, 48), "pitched, pitch of 0": of_pitched(memory, 4, 8, 0),
        "pitched, narrow pitch": of_pitched(memory, 16, 8, 32), "pitched at 16": of_pitched(memory + 16, 16, 8, 64),
        "pitched at 32": of_pitched(memory + 32, 16, 8, 64), "pitched at 512": of_pitched(memory + 512, 16, 8, 64),
        "pitched, too wide": of_pitched(memory, 131073, 1, 131104, U8), "pitched, too high": of_pitched(memory, 4, 131073, 32),
        "pitched, widest": of_pitched(memory, 131072, 1, 131072, U8), "pitched, highest": of_pitched(memory, 4, 65536, 32),
        "pitched, higher": of_pitched(memory, 4, 65537, 32), "pitched, pitch too large": of_pitched(memory, 4, 2, 2097184),
        "pitched, 3 channels": of_pitched(memory, 4, 8, 64, channels=3), "pitched, past the end": of_pitched(memory, 16, 65536, 64),
        "cube, not normalized": of_array(cube),
    }.items():
        answer(f"cuTexObjectCreate {label}", c_uint64(), described, sampling(), None)
    answer("cuTexObjectCreate mipmap, normalized", c_uint64(), of_mipmap(mipmap), sampling(flags=2), None)
    answer("cuTexObjectCreate cube, normalized", c_uint64(), of_array(cube), sampling(flags=2), None)
    attempt("cuTexObjectCreate no place", None, of_array(line), sampling(), None)
    attempt("cuTexObjectCreate no resource", byref(c_uint64()), None, sampling(), None)
    attempt("cuTexObjectCreate no sampling", byref(c_uint64()), of_array(line), None, None)


@probe
def texture_sampling():
    driver.start()
    arrays = {"f32": new_array(16, 8), "f16": new_array(16, 8, format=F16), "u8": new_array(16, 8, format=U8),
              "u8x4": new_array(16, 8, format=U8, channels=4), "s8": new_array(16, 8, format=S8),
              "u16": new_array(16, 8, format=U16), "u32": new_array(16, 8, format=U32),
              "s32": new_array(16, 8, format=10)}
    memory = driver.allocate(1 << 16)
    for label, array in arrays.items():
        for what, sampled in {
            "linear": sampling(filter=LINEAR), "integer": sampling(flags=1), "linear integer": sampling(filter=LINEAR, flags=1),
            "srgb": sampling(flags=0x10), "srgb integer": sampling(flags=0x11), "srgb linear": sampling(filter=LINEAR, flags=0x10),
        }.items():
            answer(f"cuTexObjectCreate {label} {what}", c_uint64(), of_array(array), sampled, None)
    for label, sampled in {
        "filter 2": sampling(filter=2), "mip filter 2": sampling(mip_filter=2), "mode 4": sampling((4, 1, 1)),
        "mode 4 of an unused axis": sampling((1, 1, 4)), "wrap, not normalized": sampling((0, 0, 0)),
        "mirror, not normalized": sampling((2, 2, 2)), "anisotropy 16": sampling(anisotropy=16),
        "anisotropy 17": sampling(anisotropy=17), "anisotropy 1000": sampling(anisotropy=1000),
        "flag 4": sampling(flags=4), "flag 8": sampling(flags=8), "trilinear flag": sampling(flags=0x20),
        "seamless flag": sampling(flags=0x40), "flag 0x80": sampling(flags=0x80), "flag 0x80000000": sampling(flags=0x80000000),
        "levels backwards": sampling(least=4.0, most=1.0), "levels not numbers": sampling(least=float("nan"), most=float("nan")),
        "negative level": sampling(least=-1.0), "bias 100": sampling(bias=100.0), "bias infinite": sampling(bias=float("inf")),
        "border not numbers": sampling(border=(float("nan"),) * 4), "reserved": sampling(reserved=1),
    }.items():
        answer(f"cuTexObjectCreate {label}", c_uint64(), of_array(arrays["f32"]), sampled, None)
    for label, described in {"linear": of_linear(memory, 1024), "pitched": of_pitched(memory, 16, 8, 64)}.items():
        for what, sampled in {"filtered": sampling(filter=LINEAR), "normalized": sampling(flags=2),
                              "wrap": sampling((0, 0, 0)), "wrap, normalized": sampling((0, 0, 0), flags=2),
                              "border": sampling((3, 3, 3)), "mip filter": sampling(mip_filter=LINEAR),
                              "anisotropy": sampling(anisotropy=4)}.items():
            answer(f"cuTexObjectCreate {label} {what}", c_uint64(), described, sampled, None)


@probe
def texture_views():
    driver.start()
    array, layered = new_array(16, 8, format=U32), new_array(16, 8, 4, U32, 1, LAYERED)
    mipmap, memory = new_mipmap(4, 16, 8, format=U32), driver.allocate(4096)
    for label, (described, viewed) in {
        "the same": (of_array(array), view(13, 16, 8)), "none": (of_array(array), view(0, 16, 8)),
        "bytes": (of_array(array), view(3, 16, 8)), "floats": (of_array(array), view(22, 16, 8)),
        "shorts": (of_array(array), view(8, 16, 8)), "another size of texel": (of_array(array), view(1, 16, 8)),
        "two words": (of_array(array), view(14, 8, 8)), "format 100": (of_array(array), view(100, 16, 8)),
        "another width": (of_array(array), view(13, 8, 8)), "no width": (of_array(array), view(13, 0, 8)),
        "another height": (of_array(array), view(13, 16, 4)), "a depth": (of_array(array), view(13, 16, 8, 1)),
        "bc1": (of_array(array), view(25, 16, 8)), "layers": (of_array(layered), view(13, 16, 8, 4, 0, 0, 1, 2)),
        "layers, no depth": (of_array(layered), view(13, 16, 8, 0, 0, 0, 1, 2)),
        "layers backwards": (of_array(layered), view(13, 16, 8, 4, 0, 0, 2, 1)),
        "layers beyond": (of_array(layered), view(13, 16, 8, 4, 0, 0, 0, 4)),
        "layers of a plane": (of_array(array), view(13, 16, 8, 0, 0, 0, 0, 1)),
        "levels": (of_mipmap(mipmap), view(13, 16, 8, 0, 1, 2)),
        "levels, size of the first": (of_mipmap(mipmap), view(13, 8, 4, 0, 1, 2)),
        "levels backwards": (of_mipmap(mipmap), view(13, 16, 8, 0, 2, 1)),
        "levels beyond": (of_mipmap(mipmap), view(13, 16, 8, 0, 0, 4)),
        "levels of an array": (of_array(array), view(13, 16, 8, 0, 0, 1)),
        "linear": (of_linear(memory, 1024, U32), view(13, 256)), "pitched": (of_pitched(memory, 16, 8, 64, U32), view(13, 16, 8)),
    }.items():
        texture = c_uint64()
        if answer(f"cuTexObjectCreate {label}", texture, described, sampling(flags=3), viewed) == 0:
            back = ctypes.create_string_buffer(112)
            fact(f"{label}: described", [driver.call("cuTexObjectGetResourceViewDesc", back, texture),
                                         list(struct.unpack("<I4x3Q4I", back.raw[:48]))])


@probe
def texture_descriptions():
    driver.start()
    array, memory = new_array(16, 8), driver.allocate(4096)
    resources = {"array": of_array(array), "linear": of_linear(memory, 1022), "pitched": of_pitched(memory, 16, 8, 64)}
    known = {array.value: "array", memory: "memory"}
    for label, described in resources.items():
        sampled = sampling((0, 2, 3), LINEAR, 2, 20, LINEAR, 1.5, 0.5, 7.25, (0.25, 0.5, 2.0, -1.0))
        if label == "linear":
            sampled = sampling()
        texture = new_texture(described, sampled)
        back = ctypes.create_string_buffer(b"\xEE" * 144, 144)
        fact(f"{label}: cuTexObjectGetResourceDesc", driver.call("cuTexObjectGetResourceDesc", back, texture))
        content = list(struct.unpack("<16Q", back.raw[8:136]))
        fact(f"{label}: resource", [*struct.unpack("<2I", back.raw[:8]), known.get(content[0], content[0]), *content[1:6],
                                    struct.unpack("<I", back.raw[136:140])[0]])
        back = ctypes.create_string_buffer(b"\xEE" * 104, 104)
        fact(f"{label}: cuTexObjectGetTextureDesc", driver.call("cuTexObjectGetTextureDesc", back, texture))
        fact(f"{label}: sampling", list(struct.unpack("<26I", back.raw)))
        back = ctypes.create_string_buffer(b"\xEE" * 112, 112)
        fact(f"{label}: cuTexObjectGetResourceViewDesc", driver.call("cuTexObjectGetResourceViewDesc", back, texture))
        attempt(f"cuTexObjectDestroy {label}", texture)
        attempt(f"cuTexObjectDestroy {label} again", texture)
        attempt(f"cuTexObjectGetResourceDesc {label} destroyed", back, texture)
    texture = new_texture(resources["array"])
    attempt("cuTexObjectGetResourceDesc no place", None, texture)
    attempt("cuTexObjectGetTextureDesc no place", None, texture)
    attempt("cuTexObjectGetResourceDesc of 0", back, 0)
    attempt("cuTexObjectGetTextureDesc of 0", back, 0)
    attempt("cuTexObjectDestroy 0", 0)
    attempt("cuTexObjectDestroy wild", 0x123456789)
    attempt("cuArrayDestroy under a texture", array)
    attempt("cuTexObjectGetResourceDesc after that", ctypes.create_string_buffer(144), texture)
    attempt("cuTexObjectDestroy after that", texture)


@probe
def surface_objects():
    driver.start()
    with_flag, without = new_array(16, 8, flags=SURFACE), new_array(16, 8)
    mipmap, memory, null = new_mipmap(3, 16, 8, flags=SURFACE), driver.allocate(4096), c_void_p()
    level = c_void_p()
    check("cuMipmappedArrayGetLevel", byref(level), mipmap, 1)
    for label, described in {
        "array": of_array(with_flag), "array without the flag": of_array(without), "null": of_array(null),
        "flags": of_array(with_flag, 1), "level": of_array(level), "mipmap": of_mipmap(mipmap),
        "linear": of_linear(memory, 1024), "pitched": of_pitched(memory, 16, 8, 64), "kind 9": resource(9, b""),
    }.items():
        surface = c_uint64()
        if answer(f"cuSurfObjectCreate {label}", surface, described) == 0:
            back = ctypes.create_string_buffer(144)
            fact(f"cuSurfObjectGetResourceDesc {label}", driver.call("cuSurfObjectGetResourceDesc", back, surface))
            fact(f"{label}: same description", back.raw[:16] == described[:16])
            attempt(f"cuSurfObjectDestroy {label}", surface)
            attempt(f"cuSurfObjectDestroy {label} again", surface)
    attempt("cuSurfObjectCreate no resource", byref(c_uint64()), None)
    attempt("cuSurfObjectGetResourceDesc no place", None, new_surface(with_flag))
    attempt("cuSurfObjectGetResourceDesc of 0", ctypes.create_string_buffer(144), 0)
    attempt("cuSurfObjectDestroy 0", 0)
    texture = new_texture(of_array(with_flag))
    attempt("cuSurfObjectDestroy of a texture", texture)
    attempt("cuTexObjectDestroy of a surface", new_surface(with_flag))


@probe
def surface_without_place():
    driver.start()
    attempt("cuSurfObjectCreate no place", None, of_array(new_array(16, 8, flags=SURFACE)))


@probe
def texture_widths():
    driver.start()
    for format in (0, U8, U16, U32, S8, F16, F32, 5, 176):
        for channels in (0, 1, 2, 3, 4, 5):
            widest = c_size_t()
            code = driver.call("cuDeviceGetTexture1DLinearMaxWidth", byref(widest), format, channels, 0)
            fact(f"cuDeviceGetTexture1DLinearMaxWidth {format} {channels}", [code, widest.value])
    attempt("cuDeviceGetTexture1DLinearMaxWidth no place", None, U8, 1, 0)
    attempt("cuDeviceGetTexture1DLinearMaxWidth device 99", byref(c_size_t()), U8, 1, 99)


# Kernels

KERNEL = """.version 7.7
.target sm_75
.address_size 64
.visible .entry sample(.param .u64 object, .param .u32 x, .param .u32 y, .param .u64 out)
{
    .reg .b64 %t, %to;
    .reg .b32 %x, %y, %d<4>;
    .reg .pred %p<3>;
    ld.param.u64 %t, [object];
    ld.param.u32 %x, [x];
    ld.param.u32 %y, [y];
    ld.param.u64 %to, [out];
    mov.b32 %d0, 77;
    TEXT
    st.global.b32 [%to], %d0;
    ret;
}
"""
TEX = "tex.2d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];"
SULD = "suld.b.2d.b32.MODE %d0, [%t, {%x, %y}];"
SUST = "sust.b.2d.b32.MODE [%t, {%x, %y}], %d0;"
TYPES = ("{ istypep.texref %p0, %t; istypep.samplerref %p1, %t; istypep.surfref %p2, %t; selp.b32 %d0, 1, 0, %p0; "
         "@%p1 add.u32 %d0, %d0, 2; @%p2 add.u32 %d0, %d0, 4; }")


def plane(format=F32, flags=0):
    """A plane of 16 by 8 numbers that count from 1."""
    array = new_array(16, 8, format=format, flags=flags)
    size = 4 if format == F32 else 1
    code = "f" if format == F32 else "B"
    texels = ctypes.create_string_buffer(struct.pack(f"<128{code}", *range(1, 129)))
    row = 16 * size
    ends = [0, 0, 1, ctypes.addressof(texels), 0, 0, row, 0, 0, 3, 0, 0, array.value, 0, row, 8]
    check("cuMemcpy2D_v2", struct.pack("<16Q", *ends))
    return array


def plane_texture():
    return new_texture(of_array(plane()))


def destroyed_texture():
    texture = plane_texture()
    check("cuTexObjectDestroy", texture)
    return texture


def texture_of_destroyed_array():
    array = plane()
    texture = new_texture(of_array(array))
    check("cuArrayDestroy", array)
    return texture


def plane_surface():
    return new_surface(plane(flags=SURFACE))


def destroyed_surface():
    surface = plane_surface()
    check("cuSurfObjectDestroy", surface)
    return surface


def byte_surface():
    return new_surface(plane(U8, SURFACE))


def surface_without_flag():
    return new_surface(plane())


OBJECT_KERNELS = {
    "tex": (TEX, plane_texture, 1, 1), "tex_outside": (TEX, plane_texture, -5, 100),
    "tex_of_0": (TEX, lambda: c_uint64(0), 1, 1), "tex_wild": (TEX, lambda: c_uint64(0x0123456789ABCDE0), 1, 1),
    "tex_destroyed": (TEX, destroyed_texture, 1, 1), "tex_array_destroyed": (TEX, texture_of_destroyed_array, 1, 1),
    "tex_of_surface": (TEX, plane_surface, 1, 1), "suld_of_texture": (SULD.replace("MODE", "trap"), plane_texture, 0, 0),
    "tex_1d_of_plane": ("tex.1d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%x}];", plane_texture, 1, 1),
    "tex_3d_of_plane": ("tex.3d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y, %x, %x}];", plane_texture, 1, 1),
    "tex_a2d_of_plane": ("tex.a2d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y, %x, %x}];", plane_texture, 1, 1),
    "suld_without_flag": (SULD.replace("MODE", "trap"), surface_without_flag, 8, 1),
    "sust_without_flag": (SUST.replace("MODE", "trap"), surface_without_flag, 8, 1),
    "tex_1d_float_of_plane": ("{ cvt.rn.f32.s32 %x, %x; tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x}]; }",
                              plane_texture, 3, 0),
    "suld_of_0": (SULD.replace("MODE", "trap"), lambda: c_uint64(0), 0, 0),
    "suld_wild": (SULD.replace("MODE", "trap"), lambda: c_uint64(0x0123456789ABCDE0), 0, 0),
    "suld_destroyed": (SULD.replace("MODE", "trap"), destroyed_surface, 0, 0),
    "suld_of_bytes": (SULD.replace("MODE", "trap"), byte_surface, 4, 0),
    "suld_1d_of_plane": ("suld.b.1d.b32.trap %d0, [%t, {%x}];", plane_surface, 0, 0),
    "suld_3d_of_plane": ("suld.b.3d.b32.trap %d0, [%t, {%x, %y, %x, %x}];", plane_surface, 0, 0),
    "istypep_texture": (TYPES, plane_texture, 0, 0), "istypep_surface": (TYPES, plane_surface, 0, 0),
    "istypep_of_0": (TYPES, lambda: c_uint64(0), 0, 0), "istypep_destroyed": (TYPES, destroyed_texture, 0, 0),
}
for mode in ("trap", "clamp", "zero"):
    for what, text in (("suld", SULD), ("sust", SUST)):
        for where, x, y in [("inside", 4, 1), ("right", 64, 1), ("left", -4, 1), ("below", 4, 8), ("misaligned", 2, 1),
                            ("across the end", 62, 1)]:
            OBJECT_KERNELS[f"{what}_{mode}_{where.replace(' ', '_')}"] = (text.replace("MODE", mode), plane_surface, x, y)


@family(OBJECT_KERNELS)
def object_kernel(name):
    driver.start()
    text, make, x, y = OBJECT_KERNELS[name]
    function = driver.function(driver.load(KERNEL.replace("TEXT", text)), "sample")
    out, made = driver.upload(bytes(4)), make()
    arguments = [struct.pack("<Q", made.value), struct.pack("<i", x), struct.pack("<i", y), struct.pack("<Q", out)]
    fact("cuLaunchKernel", driver.launch_code(function, (1, 1, 1), (1, 1, 1), arguments))
    if attempt("cuCtxSynchronize") == 0:
        fact("result", struct.unpack("<I", driver.download(out, 4))[0])


REFERENCES = """.version 7.7
.target sm_75
.address_size 64
DECLARATION
.visible .entry sample(.param .u64 out)
{
    .reg .b64 %to;
    .reg .b32 %d<4>;
    ld.param.u64 %to, [out];
    mov.b32 %d0, 1;
    tex.1d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [image, {%d0}];
    st.global.b32 [%to], %d0;
    ret;
}
"""


@probe
def texture_references():
    driver.start()
    for declaration in (".global .texref image;", ".visible .global .texref image;"):
        module = c_void_p()
        attempt(f"cuModuleLoadData {declaration}", byref(module),
                REFERENCES.replace("DECLARATION", declaration).encode())
        attempt(f"cuModuleGetTexRef {declaration}", byref(c_void_p()), module, b"image")


if __name__ == "__main__":
    run(*sys.argv[1:])
