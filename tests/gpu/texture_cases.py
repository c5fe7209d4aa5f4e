"""What record_textures.py samples: resources, samplers, instructions and coordinates, and which of them belong together.

Resources and samplers are what the driver is asked for. An instruction is PTX that finds the object's handle in %t and
its coordinates in %c0 to %c11, and leaves results in %d0 to %d3; %h0 to %h3, %l0 and %l1, and %p are for its own use.
A case samples with one instruction at every coordinate of a list, one per thread.
"""

import collections
import math
import random
import struct

Resource = collections.namedtuple("Resource", "kind format channels width height depth flags levels texels")
Sampler = collections.namedtuple("Sampler", "modes filter flags anisotropy mip_filter bias least most border")
Case = collections.namedtuple("Case", "resource sampler view code coordinates results")

U8, U16, U32, S8, S16, S32, F16, F32 = 1, 2, 3, 8, 9, 10, 16, 32
SIZES = {U8: 1, S8: 1, U16: 2, S16: 2, F16: 2, U32: 4, S32: 4, F32: 4}
LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8
WRAP, CLAMP, MIRROR, BORDER = 0, 1, 2, 3
POINT, LINEAR = 0, 1
INTEGER, NORMALIZED, SRGB, SEAMLESS = 1, 2, 16, 64

RESULTS = "{%d0, %d1, %d2, %d3}"


def sampler(modes=CLAMP, filter=POINT, flags=0, anisotropy=0, mip_filter=POINT, bias=0.0, least=0.0, most=0.0,
            border=(0.0, 0.0, 0.0, 0.0)):
    modes = (modes,) * 3 if isinstance(modes, int) else modes
    return Sampler(modes, filter, flags, anisotropy, mip_filter, bias, least, most, border)


def bits(value):
    """The 32 bits of a float or an integer."""
    if isinstance(value, int):
        return value & 0xFFFFFFFF
    return struct.unpack("<I", struct.pack("<f", value))[0]


def words(*columns):
    """Lists of numbers side by side: one tuple a thread."""
    return [tuple(bits(value) for value in row) for row in zip(*columns)]


# Texels

def pattern(format, count, seed):
    """Texels that look random and are no special values."""
    source = random.Random(seed)
    if format == F32:
        return struct.pack(f"<{count}f", *(source.uniform(-2, 2) for _ in range(count)))
    if format == F16:
        return struct.pack(f"<{count}e", *(source.uniform(-2, 2) for _ in range(count)))
    return bytes(source.randrange(256) for _ in range(count * SIZES[format]))


def levels_of(width, height, depth, flags, levels):
    """The size of each mip level; layers and faces stay as many."""
    def side(length, level):
        return max(length >> level, 1) if length else 0

    return [(side(width, level), side(height, level), depth if flags & (LAYERED | CUBE) else side(depth, level))
            for level in range(levels)]


def texel_count(width, height, depth):
    return width * max(height, 1) * max(depth, 1)


def array(format, channels, width, height=0, depth=0, flags=0, texels=None, seed=1):
    count = texel_count(width, height, depth) * channels
    return Resource("array", format, channels, width, height, depth, flags, 1, texels or pattern(format, count, seed))


def mipmap(format, channels, width, height, depth, flags, levels, texels=None, seed=1):
    sizes = levels_of(width, height, depth, flags, levels)
    count = sum(texel_count(*size) for size in sizes) * channels
    texels = texels or pattern(format, count, seed)
    return Resource("mipmap", format, channels, width, height, depth, flags, levels, texels)


def level_numbers(width, height, depth, flags, levels):
    """A mipmap of one float channel each of whose levels holds its own number."""
    sizes = levels_of(width, height, depth, flags, levels)
    texels = b"".join(struct.pack("<f", level) * texel_count(*size) for level, size in enumerate(sizes))
    return mipmap(F32, 1, width, height, depth, flags, levels, texels)


def linear(format, channels, width, seed=1):
    return Resource("linear", format, channels, width, 0, 0, 0, 1, pattern(format, width * channels, seed))


def pitched(format, channels, width, height, seed=1):
    return Resource("pitch2D", format, channels, width, height, 0, 0, 1, pattern(format, width * height * channels, seed))


# Coordinates

def edges(size, scale=1.0):
    """Coordinates at and beyond the edges of a texture, in texels times a scale."""
    tiny = 2.0**-10
    near = [-2 * size - 0.25, -size - 0.5, -size, -1.5, -1.0, -0.5, -0.25, -tiny, -0.0, 0.0, tiny, 0.25, 0.5, 0.75,
            1.0, 1.5, 1.999, 2.25, size / 2, size - 1.25, size - 1.0, size - 0.5, size - tiny, size, size + tiny,
            size + 0.25, size + 0.5, size + 1.5, 2 * size - 0.5, 2 * size, 2 * size + 0.75, 3 * size + 0.25]
    far = [-1e30, -70000.5, 70000.5, 1e9, 1e30, float("inf"), float("-inf"), float("nan")]
    return [value * scale for value in near + far]


def spread(count, low, high, seed):
    """Numbers between two bounds, as single precision has them."""
    source = random.Random(seed)
    return [struct.unpack("<f", struct.pack("<f", source.uniform(low, high)))[0] for _ in range(count)]


def mixed(lists, count, seed):
    """Tuples with each number from its own list."""
    source = random.Random(seed)
    return words(*([source.choice(values) for _ in range(count)] for values in lists))


def directions(count, seed):
    """Directions into a cube: along axes, edges and corners, and any."""
    fixed = [(x, y, z) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0) for z in (-1.0, 0.0, 1.0)]
    fixed += [(x * 0.75, y, z * 0.5) for x, y, z in fixed] + [(0.999, y, z) for _, y, z in fixed[:9]]
    free = list(zip(*(spread(count, -2, 2, seed + axis) for axis in range(3))))
    return words(*zip(*(fixed + free)))


# Instructions

VECTORS = {"1d": "{%c0}", "2d": "{%c0, %c1}", "3d": "{%c0, %c1, %c2, %c2}", "a1d": "{%c0, %c1}",
           "a2d": "{%c0, %c1, %c2, %c2}", "cube": "{%c0, %c1, %c2, %c2}", "acube": "{%c0, %c1, %c2, %c3}"}
WORDS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4}


def tex(shape, to="f32", at="f32", extra=""):
    return f"tex.{shape}.v4.{to}.{at} {RESULTS}, [%t, {VECTORS[shape]}]{extra};"


def tex_level(shape, to="f32"):
    return f"tex.level.{shape}.v4.{to}.f32 {RESULTS}, [%t, {VECTORS[shape]}], %c{WORDS[shape]};"


def tex_grad(shape):
    first = WORDS[shape]
    sides = {"1d": 1, "a1d": 1, "2d": 2, "a2d": 2}.get(shape, 3)

    def vector(start):
        names = [f"%c{start + axis}" for axis in range(sides)]
        return "{" + ", ".join(names + names[-1:] * (sides == 3)) + "}"

    return (f"tex.grad.{shape}.v4.f32.f32 {RESULTS}, [%t, {VECTORS[shape]}], {vector(first)}, "
            f"{vector(first + sides)};")


def tld4(component, shape="2d", to="f32", extra=""):
    return f"tld4.{component}.{shape}.v4.{to}.f32 {RESULTS}, [%t, {VECTORS[shape]}]{extra};"


def cases():
    yield from addressing()
    yield from formats()
    yield from weights()
    yield from shapes()
    yield from mipmaps()
    yield from gathers()
    yield from views()


def addressing():
    """Every address mode at and beyond the edges."""
    line = array(F32, 1, 8)
    border = (0.25, 0.5, 0.75, 1.0)
    for filter in (POINT, LINEAR):
        for mode in (WRAP, CLAMP, MIRROR, BORDER):
            for flags in (0, NORMALIZED):
                scale = 1 / 8 if flags else 1.0
                yield Case(line, sampler(mode, filter, flags, border=border), None, tex("1d"), words(edges(8, scale)), 1)
    odd = array(F32, 1, 7, seed=2)
    for filter in (POINT, LINEAR):
        for mode in (WRAP, MIRROR):
            yield Case(odd, sampler(mode, filter, NORMALIZED), None, tex("1d"), words(edges(7, 1 / 7)), 1)
    whole = [-2**31, -70000, -9, -8, -1, 0, 1, 3, 6, 7, 8, 9, 15, 16, 70000, 2**31 - 1]
    for mode in (WRAP, CLAMP, MIRROR, BORDER):
        yield Case(line, sampler(mode, POINT, 0, border=border), None, tex("1d", at="s32"), words(whole), 1)
    plane = array(F32, 1, 7, 5, seed=3)
    for modes in [(WRAP, CLAMP, CLAMP), (MIRROR, BORDER, CLAMP), (BORDER, WRAP, CLAMP), (CLAMP, MIRROR, CLAMP)]:
        for filter in (POINT, LINEAR):
            for flags in (0, NORMALIZED):
                x, y = (edges(7, 1 / 7), edges(5, 1 / 5)) if flags else (edges(7), edges(5))
                yield Case(plane, sampler(modes, filter, flags, border=border), None, tex("2d"), mixed([x, y], 80, 4), 1)
    yield Case(plane, sampler(CLAMP), None, tex("2d", at="s32"), mixed([whole, whole], 60, 5), 1)
    solid = array(F32, 1, 4, 3, 5, seed=6)
    for modes in [(WRAP, MIRROR, CLAMP), (CLAMP, BORDER, WRAP), (BORDER, BORDER, BORDER)]:
        for filter in (POINT, LINEAR):
            axes = [edges(4, 1 / 4), edges(3, 1 / 3), edges(5, 1 / 5)]
            yield Case(solid, sampler(modes, filter, NORMALIZED, border=border), None, tex("3d"), mixed(axes, 80, 7), 1)
    yield Case(solid, sampler(CLAMP), None, tex("3d"), mixed([edges(4), edges(3), edges(5)], 60, 8), 1)
    yield Case(solid, sampler(BORDER), None, tex("3d", at="s32"), mixed([whole, whole, whole], 60, 8), 1)
    # The border color in other formats.
    for format, flags, border in [(U8, INTEGER, (1.0, 2.0, -3.0, 300.0)), (S16, INTEGER, (1.5, -2.0, 4e4, -4e4)),
                                  (U8, 0, (0.25, 2.0, -3.0, 0.3)), (F16, 0, (0.1, 1e6, -3.0, 1e-9)),
                                  (U32, INTEGER, (1.5, 2.0, -3.0, 5e9)), (S32, INTEGER, (1.5, 2.0, -3.0, 5e9))]:
        for channels in (1, 2, 4):
            to = "f32" if not flags else ("s32" if format in (S16, S32) else "u32")
            yield Case(array(format, channels, 4, seed=9), sampler(BORDER, POINT, flags, border=border), None,
                       tex("1d", to), words([-1.0, 0.5, 5.0]), 4)
    # A whole linear texture, and past its ends.
    for channels in (1, 4):
        yield Case(linear(F32, channels, 50, 10), sampler(), None, tex("1d", at="s32"),
                   words([-2**31, -1, 0, 1, 25, 49, 50, 51, 1000, 2**27, 2**28, 2**31 - 1]), 4)
    rows = pitched(F32, 1, 9, 6, 11)
    for mode in (WRAP, CLAMP, MIRROR, BORDER):
        for filter in (POINT, LINEAR):
            for flags in (0, NORMALIZED):
                x, y = (edges(9, 1 / 9), edges(6, 1 / 6)) if flags else (edges(9), edges(6))
                yield Case(rows, sampler(mode, filter, flags), None, tex("2d"), mixed([x, y], 40, 12), 1)


def formats():
    """Every format with every number of channels, and every type of result."""
    middle = [index + 0.5 for index in range(8)]
    for format in SIZES:
        for channels in (1, 2, 4):
            line = array(format, channels, 8, seed=20 + format)
            if format in (F16, F32):
                reads = [("f32", 0)]
            else:
                reads = [("s32" if format in (S8, S16, S32) else "u32", INTEGER)]
                if SIZES[format] < 4:
                    reads.append(("f32", 0))
            for to, flags in reads:
                yield Case(line, sampler(flags=flags), None, tex("1d", to), words(middle), 4)
    # Results of other types than the texels.
    for format, flags in [(U8, 0), (S8, 0), (U8, INTEGER), (S16, INTEGER), (F16, 0), (F32, 0), (S32, INTEGER),
                          (U32, INTEGER)]:
        line = array(format, 2, 8, seed=20 + format)
        for to in ("f32", "s32", "u32"):
            yield Case(line, sampler(flags=flags), None, tex("1d", to), words(middle), 4)
        half = ("{ tex.1d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%t, {%c0}]; mov.b32 %d0, {%h0, %h1}; "
                "mov.b32 %d1, {%h2, %h3}; }")
        yield Case(line, sampler(flags=flags), None, half, words(middle), 4)
        yield Case(line, sampler(flags=flags), None, "tex.1d.v2.f16x2.f32 {%d0, %d1}, [%t, {%c0}];", words(middle), 4)
    every = [index + 0.5 for index in range(256)]
    yield Case(array(U8, 1, 256, texels=bytes(range(256))), sampler(), None, tex("1d"), words(every), 1)
    yield Case(array(S8, 1, 256, texels=bytes(range(256))), sampler(), None, tex("1d"), words(every), 1)
    yield Case(array(U8, 4, 64, texels=bytes(range(256))), sampler(flags=SRGB), None, tex("1d"), words(every[:64]), 4)
    yield Case(array(U8, 1, 256, texels=bytes(range(256))), sampler(flags=SRGB), None, tex("1d"), words(every), 1)
    yield Case(array(U8, 2, 128, texels=bytes(range(256))), sampler(flags=SRGB), None, tex("1d"), words(every[:128]), 4)
    sixteen = [0, 1, 2, 3, 5, 255, 256, 257, 1000, 0x3FFF, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0x8002, 0xABCD, 0xC000,
               0xFFFD, 0xFFFE, 0xFFFF]
    texels = struct.pack("<20H", *sixteen)
    for format in (U16, S16):
        yield Case(array(format, 1, 20, texels=texels), sampler(), None, tex("1d"), words(every[:20]), 1)
    halves = [0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0x3C01, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7C01, 0x7E00,
              0xFE01, 0x5555]
    yield Case(array(F16, 1, 16, texels=struct.pack("<16H", *halves)), sampler(), None, tex("1d"), words(every[:16]), 1)
    singles = [0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000,
               0x7F800001, 0x7FC00000, 0xFFC12345, 0x12345678]
    for filter in (POINT, LINEAR):
        yield Case(array(F32, 1, 14, texels=struct.pack("<14I", *singles)), sampler(filter=filter), None, tex("1d"),
                   words(every[:14] + [index + 0.75 for index in range(14)]), 1)


def weights():
    """Linear filtering: where weights are rounded, and how values are mixed."""
    impulse = array(F32, 1, 8, texels=struct.pack("<8f", 0, 0, 0, 1, 0, 0, 0, 0))
    fine = [2.5 + step / 1024 for step in range(1025)]
    yield Case(impulse, sampler(filter=LINEAR), None, tex("1d"), words(fine), 1)
    yield Case(impulse, sampler(filter=LINEAR), None, tex("1d"), words([2.5 + step / 131072 for step in range(900)]), 1)
    yield Case(impulse, sampler(filter=LINEAR, flags=NORMALIZED), None, tex("1d"),
               words([x / 8 for x in fine[:600]]), 1)
    odd = array(F32, 1, 7, texels=struct.pack("<7f", 0, 0, 0, 1, 0, 0, 0))
    yield Case(odd, sampler(filter=LINEAR, flags=NORMALIZED), None, tex("1d"), words(spread(600, 2.4 / 7, 4.6 / 7, 30)), 1)
    long = array(F32, 1, 1000, texels=struct.pack("<1000f", *(float(index % 2) for index in range(1000))))
    yield Case(long, sampler(filter=LINEAR, flags=NORMALIZED), None, tex("1d"), words(spread(500, 0, 1, 31)), 1)
    yield Case(long, sampler(filter=LINEAR), None, tex("1d"), words(spread(300, 0, 1000, 32)), 1)
    yield Case(long, sampler(WRAP, LINEAR, NORMALIZED), None, tex("1d"), words(spread(300, -9, 9, 33)), 1)
    yield Case(long, sampler(WRAP, POINT, NORMALIZED), None, tex("1d"), words(spread(300, -9, 9, 33)), 1)
    yield Case(long, sampler(MIRROR, LINEAR, NORMALIZED), None, tex("1d"), words(spread(300, -9, 9, 34)), 1)
    # Point sampling close to the border between texels.
    near = [index / 1000 + step * 2.0**-24 for index in (1, 2, 3, 250, 501, 999) for step in range(-9, 10)]
    counting = array(F32, 1, 1000, texels=struct.pack("<1000f", *map(float, range(1000))))
    yield Case(counting, sampler(flags=NORMALIZED), None, tex("1d"), words(near), 1)
    yield Case(counting, sampler(), None, tex("1d"), words([x * 1000 for x in near]), 1)

    every_weight = [2.5 + step / 256 for step in range(257)]
    for pair in [(1.0, 3.0), (1.0, -1.0), (1.1, 1.3), (1e10, 1.0), (1e-3, 7.7), (3e38, 3e38), (1e-38, 2e-38)]:
        texels = struct.pack("<4f", 0, 0, *pair) + bytes(4)
        yield Case(array(F32, 1, 5, texels=texels), sampler(filter=LINEAR), None, tex("1d"), words(every_weight), 1)
    for format in (U8, S8, U16, S16, F16):
        line = array(format, 2, 8, seed=40 + format)
        yield Case(line, sampler(filter=LINEAR), None, tex("1d"), words(every_weight), 2)
    # Filtering of integers is point sampling, or refused.
    yield Case(array(U8, 1, 8), sampler(filter=LINEAR, flags=INTEGER), None, tex("1d", "u32"), words(every_weight[::16]), 1)
    yield Case(array(S32, 1, 8), sampler(filter=LINEAR, flags=INTEGER), None, tex("1d", "s32"), words(every_weight[::16]), 1)
    for format in (U8, S8, U16, S16, F16, F32):
        plane = array(format, 1, 6, 6, seed=50 + format)
        at = words(spread(300, 0.5, 5.5, 51), spread(300, 0.5, 5.5, 52))
        yield Case(plane, sampler(filter=LINEAR), None, tex("2d"), at, 1)
        solid = array(format, 1, 5, 4, 6, seed=60 + format)
        at = words(spread(200, 0.5, 4.5, 61), spread(200, 0.5, 3.5, 62), spread(200, 0.5, 5.5, 63))
        yield Case(solid, sampler(filter=LINEAR), None, tex("3d"), at, 1)
    plane = array(U8, 4, 6, 6, seed=53)
    yield Case(plane, sampler(filter=LINEAR, flags=SRGB), None, tex("2d"),
               words(spread(100, 0.5, 5.5, 51), spread(100, 0.5, 5.5, 52)), 4)
    half = ("{ tex.2d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%t, {%c0, %c1}]; mov.b32 %d0, {%h0, %h1}; "
            "mov.b32 %d1, {%h2, %h3}; }")
    yield Case(plane, sampler(filter=LINEAR), None, half, words(spread(60, 0.5, 5.5, 51), spread(60, 0.5, 5.5, 52)), 2)
    yield Case(array(F32, 1, 6, 6, seed=82), sampler(filter=LINEAR), None, half,
               words(spread(60, 0.5, 5.5, 51), spread(60, 0.5, 5.5, 52)), 1)
    # One channel of a known plane in each corner: the weights of both directions at once.
    corners = array(F32, 4, 2, 2, texels=struct.pack("<16f", *(float(k == c) for k in range(4) for c in range(4))))
    yield Case(corners, sampler(filter=LINEAR), None, tex("2d"), words(spread(300, 0.5, 1.5, 71), spread(300, 0.5, 1.5, 72)), 4)
    for first in (0, 4):
        ends = [float(corner == first + side) for corner in range(8) for side in range(4)]
        cube = array(F32, 4, 2, 2, 2, texels=struct.pack("<32f", *ends))
        at = words(*(spread(200, 0.5, 1.5, 73 + axis) for axis in range(3)))
        yield Case(cube, sampler(filter=LINEAR), None, tex("3d"), at, 4)
    # Normalized coordinates of textures of other sizes.
    for width in (100, 5000, 20000):
        texels = struct.pack(f"<{width}B", *(255 * (index % 2) for index in range(width)))
        zebra = array(U8, 1, width, texels=texels)
        for filter in (POINT, LINEAR):
            yield Case(zebra, sampler(filter=filter, flags=NORMALIZED), None, tex("1d"), words(spread(200, 0, 1, width)), 1)
    # Numbers that are not finite, and zeros.
    special = struct.pack("<8f", 1.0, math.inf, -1.0, -math.inf, math.inf, math.nan, 2.0, -0.0)
    yield Case(array(F32, 1, 8, texels=special), sampler(filter=LINEAR), None, tex("1d"),
               words([0.5 + step / 8 for step in range(64)]), 1)


def shapes():
    """Layers and cubes."""
    layers = [-2**31, -1, 0, 1, 2, 3, 7, 2**31 - 1]
    lines = array(F32, 1, 6, 0, 3, LAYERED, seed=80)
    planes = array(F32, 2, 6, 4, 3, LAYERED, seed=81)
    for filter in (POINT, LINEAR):
        for mode in (WRAP, CLAMP, MIRROR, BORDER):
            shaped = sampler(mode, filter, NORMALIZED)
            yield Case(lines, shaped, None, tex("a1d"), mixed([layers, edges(6, 1 / 6)], 60, 82), 1)
            yield Case(planes, shaped, None, tex("a2d"), mixed([layers, edges(6, 1 / 6), edges(4, 1 / 4)], 60, 83), 2)
    yield Case(lines, sampler(), None, tex("a1d", at="s32"), mixed([layers, [-1, 0, 2, 5, 6]], 30, 84), 1)
    yield Case(planes, sampler(), None, tex("a2d", at="s32"), mixed([layers, [-1, 0, 2, 5, 6], [-1, 0, 3, 4]], 30, 85), 2)
    cube = array(F32, 1, 4, 4, 6, CUBE, seed=86)
    cubes = array(F32, 1, 4, 4, 12, CUBE | LAYERED, seed=87)
    free = list(zip(*directions(150, 88)))
    for filter in (POINT, LINEAR):
        for flags in (NORMALIZED, NORMALIZED | SEAMLESS):
            yield Case(cube, sampler(CLAMP, filter, flags), None, tex("cube"), words(*free), 1)
        chosen = [layer for layer, _ in zip(layers * 100, free[0])]
        yield Case(cubes, sampler(CLAMP, filter, NORMALIZED), None, tex("acube"), words(chosen, *free), 1)
        yield Case(cube, sampler(WRAP, filter, NORMALIZED), None, tex("cube"), words(*free), 1)
    odd = [(math.nan, 1.0, 0.0), (math.inf, 1.0, 0.0), (1e-40, 0.0, 0.0), (math.inf, math.inf, 1.0), (1e38, 1e38, -1e38)]
    yield Case(cube, sampler(CLAMP, POINT, NORMALIZED), None, tex("cube"), words(*zip(*odd)), 1)
    # Offsets in texels.
    plane = array(F32, 1, 7, 5, seed=89)
    offsets = [-9, -8, -3, -1, 0, 1, 2, 7, 8]
    for filter in (POINT, LINEAR):
        for mode in (WRAP, CLAMP, BORDER):
            at = mixed([edges(7, 1 / 7), edges(5, 1 / 5), offsets, offsets], 60, 90)
            yield Case(plane, sampler(mode, filter, NORMALIZED), None, tex("2d", extra=", {%c2, %c3}"), at, 1)
    at = mixed([edges(6), offsets], 40, 91)
    yield Case(array(F32, 1, 6, seed=92), sampler(), None, tex("1d", extra=", {%c1}"), at, 1)
    at = mixed([layers, edges(6, 1 / 6), edges(4, 1 / 4), offsets, offsets], 40, 93)
    yield Case(planes, sampler(WRAP, LINEAR, NORMALIZED), None, tex("a2d", extra=", {%c3, %c4}"), at, 2)
    at = mixed([edges(4), edges(3), edges(5), offsets, offsets, offsets], 60, 94)
    solid = array(F32, 1, 4, 3, 5, seed=6)
    yield Case(solid, sampler(CLAMP, LINEAR), None, tex("3d", extra=", {%c3, %c4, %c5, %c5}"), at, 1)
    resident = "{ tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}|%p, [%t, {%c0, %c1}]; selp.b32 %d1, 1, 0, %p; }"
    yield Case(plane, sampler(), None, resident, mixed([edges(7), edges(5)], 20, 97), 2)


def mipmaps():
    """Levels by number and by gradient."""
    numbers = level_numbers(32, 16, 0, 0, 6)
    lods = [-3.0, -0.5, 0.0, 0.25, 0.49, 0.5, 0.51, 0.75, 1.0, 1.25, 1.5, 1.75, 2.5, 3.0, 4.49, 4.5, 4.99, 5.0, 5.5, 9.0,
            1e9, math.inf, -math.inf, math.nan] + spread(80, -1, 6, 100) + [1 + step / 2048 for step in range(40)]
    somewhere = [0.3] * len(lods)
    for mip_filter in (POINT, LINEAR):
        for bias, least, most in [(0.0, 0.0, 9.0), (0.75, 0.0, 9.0), (-1.3, 0.0, 9.0), (0.0, 1.25, 3.5), (0.0, 0.0, 0.0),
                                  (20.0, 0.0, 9.0), (0.0, 4.0, 2.0), (0.0, -1.0, 1000.0), (0.3333, 0.7, 2.9001)]:
            shaped = sampler(CLAMP, LINEAR, NORMALIZED, 0, mip_filter, bias, least, most)
            yield Case(numbers, shaped, None, tex_level("2d"), words(somewhere, somewhere, lods), 1)
    most = {"most": 9.0, "mip_filter": LINEAR, "flags": NORMALIZED}
    yield Case(numbers, sampler(filter=LINEAR, bias=1.5, **most), None, tex("2d"), words([0.3, 0.4], [0.5, 0.6]), 1)
    yield Case(numbers, sampler(filter=LINEAR, bias=1.5, **most), None,
               f"tex.base.2d.v4.f32.f32 {RESULTS}, [%t, {{%c0, %c1}}];", words([0.3, 0.4], [0.5, 0.6]), 1)
    # Colors, with every shape.
    source = {shape: mipmap(F32, 1, *size, 4, seed=101) for shape, size in {
        "1d": (16, 0, 0, 0), "2d": (16, 8, 0, 0), "3d": (8, 8, 8, 0), "a1d": (16, 0, 3, LAYERED),
        "a2d": (16, 8, 3, LAYERED), "cube": (8, 8, 6, CUBE), "acube": (8, 8, 12, CUBE | LAYERED)}.items()}
    for shape, resource in source.items():
        axes = [spread(60, -1, 1.6, 102 + axis) for axis in range(WORDS[shape])]
        if shape.startswith("a"):
            axes[0] = [index % 3 for index in range(60)]
        for filter, mip_filter in [(POINT, POINT), (POINT, LINEAR), (LINEAR, POINT), (LINEAR, LINEAR)]:
            shaped = sampler(CLAMP if "cube" in shape else WRAP, filter, NORMALIZED, 0, mip_filter, 0.0, 0.0, 9.0)
            yield Case(resource, shaped, None, tex_level(shape), words(*axes, spread(60, -0.5, 4.5, 110)), 1)
    # The level that gradients choose.
    plain = [[0.0] * 120 for _ in range(3)]
    fine = [2.0**-5 * 2.0 ** (step / 24) for step in range(120)]
    shaped = sampler(filter=LINEAR, **most)
    square = level_numbers(32, 32, 0, 0, 6)
    yield Case(square, shaped, None, tex_grad("2d"), words(*[[0.3] * 120] * 2, fine, *plain), 1)
    yield Case(square, shaped, None, tex_grad("2d"), words(*[[0.3] * 120] * 2, *plain, fine), 1)
    free = [spread(150, -0.3, 0.3, 120 + side) for side in range(4)]
    yield Case(square, shaped, None, tex_grad("2d"), words(*[[0.3] * 150] * 2, *free), 1)
    yield Case(numbers, shaped, None, tex_grad("2d"), words(*[[0.3] * 150] * 2, *free), 1)
    row = level_numbers(32, 0, 0, 0, 6)
    yield Case(row, shaped, None, tex_grad("1d"), words([0.3] * 120, fine, plain[0]), 1)
    box = level_numbers(16, 16, 16, 0, 5)
    six = [spread(100, -0.4, 0.4, 130 + side) for side in range(6)]
    yield Case(box, shaped, None, tex_grad("3d"), words(*[[0.3] * 100] * 3, *six), 1)
    lines, planes = level_numbers(32, 0, 3, LAYERED, 6), level_numbers(32, 32, 3, LAYERED, 6)
    yield Case(lines, shaped, None, tex_grad("a1d"), words([1] * 120, [0.3] * 120, fine, plain[0]), 1)
    yield Case(planes, shaped, None, tex_grad("a2d"), words([1] * 120, *[[0.3] * 120] * 2, fine, *plain), 1)
    faces = level_numbers(16, 16, 6, CUBE, 5)
    yield Case(faces, shaped, None, tex_grad("cube"), words(*(spread(100, -1, 1, 140 + axis) for axis in range(3)), *six), 1)
    for anisotropy in (2, 4, 16):
        shaped = sampler(filter=LINEAR, anisotropy=anisotropy, **most)
        yield Case(square, shaped, None, tex_grad("2d"), words(*[[0.3] * 150] * 2, *free), 1)
        yield Case(square, shaped, None, tex_grad("2d"), words(*[[0.3] * 120] * 2, fine, *plain), 1)
    yield Case(square, sampler(filter=LINEAR, anisotropy=4, **most), None, tex_level("2d"),
               words(*[[0.3] * 40] * 2, spread(40, 0, 5, 150)), 1)
    for mip_filter in (POINT, LINEAR):
        shaped = sampler(filter=POINT, mip_filter=mip_filter, bias=0.4, most=3.0, flags=NORMALIZED)
        yield Case(square, shaped, None, tex_grad("2d"), words(*[[0.3] * 150] * 2, *free), 1)


def gathers():
    """Four texels of one component."""
    plane = array(F32, 4, 7, 5, flags=GATHER, seed=160)
    border = (0.25, 0.5, 0.75, 1.0)
    for component in "rgba":
        yield Case(plane, sampler(CLAMP, LINEAR, NORMALIZED), None, tld4(component),
                   mixed([edges(7, 1 / 7), edges(5, 1 / 5)], 30, 161), 4)
    for mode in (WRAP, CLAMP, MIRROR, BORDER):
        for filter in (POINT, LINEAR):
            yield Case(plane, sampler(mode, filter, NORMALIZED, border=border), None, tld4("g"),
                       mixed([edges(7, 1 / 7), edges(5, 1 / 5)], 60, 162), 4)
    yield Case(plane, sampler(CLAMP, LINEAR), None, tld4("g"), mixed([edges(7), edges(5)], 60, 163), 4)
    fine = [3.0 + step * 2.0**-11 for step in range(-12, 13)] + [3.5 + step * 2.0**-11 for step in range(-6, 7)]
    yield Case(plane, sampler(CLAMP, LINEAR), None, tld4("g"), words(fine, [2.5] * len(fine)), 4)
    at = mixed([edges(7, 1 / 7), edges(5, 1 / 5), [-3, 0, 1, 5], [-2, 0, 2]], 40, 164)
    yield Case(plane, sampler(CLAMP, LINEAR, NORMALIZED), None, tld4("r", extra=", {%c2, %c3}"), at, 4)
    bytes_ = array(U8, 4, 7, 5, flags=GATHER, seed=165)
    at = mixed([edges(7, 1 / 7), edges(5, 1 / 5)], 30, 166)
    yield Case(bytes_, sampler(CLAMP, POINT, NORMALIZED), None, tld4("b"), at, 4)
    yield Case(bytes_, sampler(CLAMP, POINT, NORMALIZED | INTEGER), None, tld4("a", to="u32"), at, 4)
    one = array(S16, 1, 7, 5, flags=GATHER, seed=167)
    for component in "rgba":
        yield Case(one, sampler(CLAMP, POINT, NORMALIZED | INTEGER), None, tld4(component, to="s32"), at[:8], 4)
    layered = array(F32, 2, 6, 4, 3, LAYERED, seed=168)
    yield Case(layered, sampler(WRAP, LINEAR, NORMALIZED), None, tld4("g", "a2d"),
               mixed([[-1, 0, 1, 2, 3], edges(6, 1 / 6), edges(4, 1 / 4)], 60, 169), 4)
    cube = array(F32, 1, 4, 4, 6, CUBE, seed=170)
    yield Case(cube, sampler(CLAMP, LINEAR, NORMALIZED), None, tld4("r", "cube"), directions(60, 171), 4)
    cubes = array(F32, 1, 4, 4, 12, CUBE | LAYERED, seed=172)
    free = list(zip(*directions(40, 173)))
    chosen = [layer for layer, _ in zip([-1, 0, 1, 2] * 100, free[0])]
    yield Case(cubes, sampler(CLAMP, LINEAR, NORMALIZED), None, tld4("r", "acube"), words(chosen, *free), 4)


def views():
    """Reading a resource as another one."""
    plane = array(U32, 1, 8, 4, seed=180)
    # As four unsigned bytes; the view names its size.
    yield Case(plane, sampler(), (3, 8, 4, 0, 0, 0, 0, 0), tex("2d"), mixed([edges(8), edges(4)], 20, 181), 4)
    yield Case(plane, sampler(flags=INTEGER), (3, 8, 4, 0, 0, 0, 0, 0), tex("2d", "u32"), mixed([edges(8), edges(4)], 20, 181), 4)
    layered = array(F32, 1, 6, 4, 5, LAYERED, seed=182)
    yield Case(layered, sampler(), (22, 6, 4, 5, 0, 0, 1, 3), tex("a2d"),
               mixed([[-1, 0, 1, 2, 3, 4], [0.5, 2.5, 5.5], [0.5, 3.5]], 30, 183), 1)
    numbers = level_numbers(32, 16, 0, 0, 6)
    at = words(*[[0.3] * 12] * 2, [step / 2 for step in range(12)])
    yield Case(numbers, sampler(CLAMP, LINEAR, NORMALIZED, 0, LINEAR, 0.0, 0.0, 9.0), (22, 32, 16, 0, 1, 3, 0, 0),
               tex_level("2d"), at, 1)


# Surfaces

def access_bytes(width):
    """Bytes of an access such as `v2.b16`."""
    vector, _, element = width.rpartition(".")
    return int(element[1:]) // 8 * int(vector[1:] or 1) if vector else int(element[1:]) // 8


def surface_cases():
    """Reads and writes without filtering; x counts bytes."""
    whole = {"1d": "{%c0}", "2d": "{%c0, %c1}", "3d": "{%c0, %c1, %c2, %c2}", "a1d": "{%c0, %c1}",
             "a2d": "{%c0, %c1, %c2, %c2}"}
    shapes_ = {"1d": (8, 0, 0, 0), "2d": (8, 5, 0, 0), "3d": (8, 4, 3, 0), "a1d": (8, 0, 3, LAYERED),
               "a2d": (8, 4, 3, LAYERED)}
    inside = {"1d": [[0, 4, 16, 28]], "2d": [[0, 4, 16, 28], [0, 1, 4]], "3d": [[0, 4, 28], [0, 3], [0, 1, 2]],
              "a1d": [[0, 1, 2], [0, 8, 28]], "a2d": [[0, 1, 2], [0, 8, 28], [0, 3]]}
    around = {shape: [sorted(set(values) | {-1000, -4, 8, 32, 36, 1000}) for values in axes]
              for shape, axes in inside.items()}
    for shape, size in shapes_.items():
        resource = array(F32, 1, *size[:3], size[3] | SURFACE, seed=200)
        load = f"suld.b.{shape}.b32.MODE %d0, [%t, {whole[shape]}];"
        axes = len(inside[shape])
        store = f"sust.b.{shape}.b32.MODE [%t, {whole[shape]}], %c{axes};"
        for mode, places in (("trap", inside), ("clamp", around), ("zero", around)):
            yield Case(resource, None, None, load.replace("MODE", mode), mixed(places[shape], 60, 201), 1)
            at = mixed(places[shape], 12, 202)
            # One write to a place, so that the order of threads does not matter.
            at = list(dict.fromkeys(at))[:1] if mode == "clamp" else list(dict.fromkeys(at))
            at = [place + (0x1000 + index,) for index, place in enumerate(at)]
            yield Case(resource, None, None, store.replace("MODE", mode), at, 0)
    # Every width of an access, on every size of a texel.
    loads = {
        "b8": "{ suld.b.2d.b8.zero %h0, [%t, {%c0, %c1}]; cvt.u32.u16 %d0, %h0; }",
        "b16": "{ suld.b.2d.b16.zero %h0, [%t, {%c0, %c1}]; cvt.u32.u16 %d0, %h0; }",
        "b32": "suld.b.2d.b32.zero %d0, [%t, {%c0, %c1}];",
        "b64": "{ suld.b.2d.b64.zero %l0, [%t, {%c0, %c1}]; mov.b64 {%d0, %d1}, %l0; }",
        "v2.b8": "{ suld.b.2d.v2.b8.zero {%h0, %h1}, [%t, {%c0, %c1}]; mov.b32 %d0, {%h0, %h1}; }",
        "v4.b8": ("{ suld.b.2d.v4.b8.zero {%h0, %h1, %h2, %h3}, [%t, {%c0, %c1}]; mov.b32 %d0, {%h0, %h1}; "
                  "mov.b32 %d1, {%h2, %h3}; }"),
        "v2.b16": "{ suld.b.2d.v2.b16.zero {%h0, %h1}, [%t, {%c0, %c1}]; mov.b32 %d0, {%h0, %h1}; }",
        "v4.b16": ("{ suld.b.2d.v4.b16.zero {%h0, %h1, %h2, %h3}, [%t, {%c0, %c1}]; mov.b32 %d0, {%h0, %h1}; "
                   "mov.b32 %d1, {%h2, %h3}; }"),
        "v2.b32": "suld.b.2d.v2.b32.zero {%d0, %d1}, [%t, {%c0, %c1}];",
        "v4.b32": "suld.b.2d.v4.b32.zero {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];",
        "v2.b64": ("{ suld.b.2d.v2.b64.zero {%l0, %l1}, [%t, {%c0, %c1}]; mov.b64 {%d0, %d1}, %l0; "
                   "mov.b64 {%d2, %d3}, %l1; }"),
    }
    stores = {
        "b8": "{ cvt.u16.u32 %h0, %c2; sust.b.2d.b8.zero [%t, {%c0, %c1}], %h0; }",
        "b16": "{ cvt.u16.u32 %h0, %c2; sust.b.2d.b16.zero [%t, {%c0, %c1}], %h0; }",
        "v2.b8": "{ mov.b32 {%h0, %h1}, %c2; sust.b.2d.v2.b8.zero [%t, {%c0, %c1}], {%h0, %h1}; }",
        "v4.b16": ("{ mov.b32 {%h0, %h1}, %c2; mov.b32 {%h2, %h3}, %c3; "
                   "sust.b.2d.v4.b16.zero [%t, {%c0, %c1}], {%h0, %h1, %h2, %h3}; }"),
        "b64": "{ mov.b64 %l0, {%c2, %c3}; sust.b.2d.b64.zero [%t, {%c0, %c1}], %l0; }",
        "v2.b32": "sust.b.2d.v2.b32.zero [%t, {%c0, %c1}], {%c2, %c3};",
        "v4.b32": "sust.b.2d.v4.b32.zero [%t, {%c0, %c1}], {%c2, %c3, %c4, %c5};",
        "v2.b64": ("{ mov.b64 %l0, {%c2, %c3}; mov.b64 %l1, {%c4, %c5}; "
                   "sust.b.2d.v2.b64.zero [%t, {%c0, %c1}], {%l0, %l1}; }"),
    }
    for format, channels in [(U8, 1), (U8, 4), (U16, 1), (F16, 4), (F32, 1), (F32, 4)]:
        resource = array(format, channels, 8, 2, flags=SURFACE, seed=210 + format)
        for width, load in loads.items():
            size = access_bytes(width)
            x = [size * step for step in range(-2, 128 // size + 2)][:40]
            yield Case(resource, None, None, load, words(x, [step % 2 for step in range(len(x))]), 4)
        for width, store in stores.items():
            size = access_bytes(width)
            for where in sorted({0, size, 16, 16 * size}):
                value = (0x11223344, 0x55667788, 0x99AABBCC, 0xDDEEFF01)
                yield Case(resource, None, None, store, [tuple(map(bits, (where, 1) + value))], 0)
                yield Case(resource, None, None, store.replace("zero", "clamp"),
                           [tuple(map(bits, (-size, 3) + value))], 0)
    # Writes that convert.
    for format, channels in [(U8, 4), (S8, 4), (U16, 2), (S16, 4), (F16, 4), (F32, 4), (U32, 2), (S32, 1), (F32, 1)]:
        resource = array(format, channels, 8, 2, flags=SURFACE, seed=220 + format)
        values = [(0.5, -0.25, 1.5, 1.0), (300.0, -300.0, 1e-3, 70000.0), (math.nan, math.inf, -math.inf, 0.3)]
        yield Case(resource, None, None, "sust.p.2d.v4.b32.trap [%t, {%c0, %c1}], {%c2, %c3, %c4, %c5};",
                   [tuple(map(bits, (1 + 2 * index, 1) + value)) for index, value in enumerate(values)], 0)
    counters = array(U32, 1, 8, 4, flags=SURFACE, seed=230)
    for operation, type_ in [("add", "u32"), ("add", "s32"), ("min", "u32"), ("max", "u32"), ("min", "s32"),
                             ("max", "s32"), ("and", "b32"), ("or", "b32")]:
        at = [tuple(map(bits, (4 * (thread % 8), thread % 3, 0x10000001 * (thread + 1)))) for thread in range(40)]
        yield Case(counters, None, None, f"sured.b.{operation}.2d.{type_}.trap [%t, {{%c0, %c1}}], %c2;", at, 0)
        yield Case(counters, None, None, f"sured.b.{operation}.2d.{type_}.zero [%t, {{%c0, %c1}}], %c2;",
                   at[:10] + [tuple(map(bits, (36, 0, 5)))], 0)
    yield Case(counters, None, None, "{ mov.b64 %l0, {%c2, %c2}; sured.b.add.2d.u64.trap [%t, {%c0, %c1}], %l0; }",
               [tuple(map(bits, (8 * (thread % 4), thread % 3, 7 * thread))) for thread in range(20)], 0)
    for operation in ("add", "min", "max", "and", "or"):
        type_ = "b32" if operation in ("and", "or") else "u32"
        at = [tuple(map(bits, (thread % 8, thread % 3, 0x10000001 * (thread + 1)))) for thread in range(40)]
        yield Case(counters, None, None, f"sured.p.{operation}.2d.b32.trap [%t, {{%c0, %c1}}], %c2;", at, 0)
