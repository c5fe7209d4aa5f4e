"""The PTX forms whose results are recorded on real hardware, and the inputs they are given.

A form is one line of PTX over 32 or 64-bit (or 16-bit) registers: $a, $b, $c are inputs, $d is the result,
%p and %q are free predicates, %w0 %w1 %x0 %x1 free 32 and 64-bit registers, $o is the address of the thread's own
element of the output in global memory, $s that of eight bytes of its own in shared memory. Its inputs are
named grids: one thread for each combination, the first input varying slowest.
"""

import struct
from collections import namedtuple

Form = namedtuple("Form", "width grids text")


def f32(number):
    return struct.unpack("<I", struct.pack("<f", number))[0]


def f64(number):
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def f16(number):
    return struct.unpack("<H", struct.pack("<e", number))[0]


def bf16(number):
    return f32(number) >> 16


def splitmix64(seed, count):
    mask = 2**64 - 1
    for index in range(1, count + 1):
        z = (seed + index * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def unique(values):
    return list(dict.fromkeys(values))


F32_PAIRS = [
    0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800001, f32(1), f32(-1), 0x3F800001, 0x3F7FFFFF,
    f32(1.5), f32(3), f32(-10), f32(1 / 3), f32(2**24 - 1), f32(-1e-20), f32(1e20), 0x7F7FFFFF, 0x7E800000,
    0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F812345,
]
F32_SINGLES = unique(F32_PAIRS + [
    0xFFC00000, 0x7FFFFFFF, 0xFF800001, 0x007FFFFF, 0x80000001, 0x80800000, 0xFF7FFFFF, 0x33000000, 0x33000001,
    *(f32(sign * value) for sign in (1, -1) for value in (
        0.25, 0.49999997, 0.5, 0.50000006, 0.75, 1.5, 2, 2.5, 3.5, 4.5, 126.5, 127, 127.5, 128, 128.5, 254.5, 255,
        255.5, 256, 32767, 32767.5, 32768, 65503, 65504, 65519, 65520, 65535, 65535.5, 65536, 8388607.5, 8388608,
        16777215, 2**31 - 128, 2**31, 2**32 - 256, 2**32, 2**63 - 2**39, 2**63, 2**64 - 2**40, 2**64, 6.1e-5, 5.9e-8,
        1e-38, 3.14159274, 1.57079637, 0.7853982, 6.2831855, 100, 1e5, 88.72284, 1.00390625, 1.001953125,
    )),
])
F32_TRIPLES = [
    0x00000000, 0x80000000, 0x00000001, 0x80800000, f32(1), 0x3F800001, f32(-3), 0x7F7FFFFF, 0x7F800000,
    0xFFC12345,
]
# Where approximations are sampled: every binade, and the arguments that programs use.
F32_SAMPLES = unique(
    F32_SINGLES + [(exponent << 23) | (value & 0x807FFFFF)
                   for exponent, value in zip(range(0, 255, 3), splitmix64(21, 85))]
    + [f32(-32 + index * 0.53125) for index in range(121)]
)
F64_PAIRS = [
    0, 1 << 63, 1, 0x800FFFFFFFFFFFFF, 0x0010000000000000, f64(1), f64(-1), f64(1) + 1, f64(1) - 1, f64(3), f64(-10),
    f64(1 / 3), f64(-1e-200), f64(1e200), 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000,
    0x7FF8000000000000, 0xFFF8123456789ABC, 0x7FF0123456789ABC,
]
F64_SINGLES = unique(F64_PAIRS + [
    0x7FFFFFFFFFFFFFFF, 0xFFF8000000000000, 0x000FFFFFFFFFFFFF, 0x8000000000000001, f64(2.0**-126), f64(2.0**-127),
    f64(2.0**-149), f64(2.0**-150), f64(2.0**-150) + 1, f64(3.4028234663852886e38), f64(3.4028235677973366e38),
    f64(1 + 2.0**-24), f64(1 + 2.0**-24) + 1, f64(65519.999), f64(65520), f64(2.0**-25),
    *(f64(sign * value) for sign in (1, -1) for value in (
        0.25, 0.49999999999999994, 0.5, 0.75, 1.5, 2, 2.5, 3.5, 127, 127.5, 128, 255, 255.5, 256, 32767, 32767.5,
        32768, 65535, 65535.5, 65536, 2**31 - 1, 2**31 - 0.5, 2**31, 2**32 - 1, 2**32 - 0.5, 2**32, 2.0**63 - 1024,
        2.0**63, 2.0**64 - 2048, 2.0**64, 2.0**52 + 0.5, 2.0**53, 3.141592653589793, 100, 1e5, 1e-40, 1e300,
    )),
])
F64_TRIPLES = [0, 1 << 63, 1, f64(1), f64(1) + 1, f64(-3), 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000,
               0xFFF8123456789ABC]
F16_SINGLES = unique([
    0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x8401, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE12, 0x7C01, 0x7FFF,
    *(f16(sign * value) for sign in (1, -1) for value in (0.5, 1, 1.5, 2.5, 3, 10, 127.5, 255.5, 1000, 2048, 32768, 0.1)),
    0x3C01, 0x3BFF,
])
F16_PAIRS = F16_SINGLES[:26]
F16_TRIPLES = [0x0000, 0x8000, 0x0001, 0x0400, f16(1), f16(-1), 0x3C01, f16(-3), 0x7BFF, 0x7C00, 0xFE12]
BF16_SINGLES = unique([
    0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x8081, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0xFFC5, 0x7F81, 0x7FFF,
    *(bf16(sign * value) for sign in (1, -1) for value in (0.5, 1, 1.5, 2.5, 3, 10, 127.5, 255, 1024, 1e20, 1e-20, 0.1)),
    0x3F81, 0x3F7F,
])
BF16_PAIRS = BF16_SINGLES[:26]
BF16_TRIPLES = [0x0000, 0x8000, 0x0001, 0x0080, bf16(1), bf16(-1), 0x3F81, bf16(-3), 0x7F7F, 0x7F80, 0xFFC5]


def packed(values):
    """Both halves of a 32-bit register from two different places of a list."""
    return [values[(index * 7 + 3) % len(values)] << 16 | value for index, value in enumerate(values)]


I16 = [0, 1, 2, 7, 15, 16, 17, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0x8001, 0xABCD, 0xFFFE, 0xFFFF]
I32 = [0, 1, 2, 3, 7, 33, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000,
       0xFFFFFF, 0x12345678, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xDEADBEEF, 0xFFFFFF80, 0xFFFFFFFF]
I64 = [0, 1, 2, 7, 65, 0xFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x20000000000001,
       0x123456789ABCDEF0, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0x8000000000000001, 0xDEADBEEFCAFEBABE,
       0xFFFFFFFF80000000, 0xFFFFFFFFFFFFFFFF]
# Bytes and halves of every kind next to each other, for instructions that look at them one by one.
PARTS = [0, 0xFFFFFFFF, 0x7F80FF01, 0x80808080, 0x7F7F7F7F, 0x01FF8000, 0xDEADBEEF, 0x12345678, 0x80007FFF, 0xFFFE0102]
# Around every number of 8 bits and every tie between two of them, in range and beyond it.
F8_ROUNDING = unique(
    f32((-1) ** index * mantissa * 2.0**exponent)
    for exponent in range(-18, 17)
    for index, mantissa in enumerate((1, 1.0625, 1.0625001, 1.125, 1.1875, 1.25, 1.375, 1.3750001, 1.75, 1.875, 1.9375))
)
F8_PAIRS = [index | ((index * 7 + 3) & 0xFF) << 8 for index in range(256)]
# A NaN that a tensor copy fills in where there is no data, and its neighbors.
F16_MARKS = [0x7FFF, 0xFFFF, 0x7FFE, 0x7E00, 0x7C01, 0x7C00, 0x3C00, 0xC000]
# Shift amounts and bit positions: in range, at the width, beyond it, and with bits above the lowest byte.
COUNTS = [0, 1, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255, 256, 257, 0x80000000, 0xFFFFFFFF]

GRIDS = {
    "f32": (32, F32_SINGLES), "f32.2": (32, F32_PAIRS), "f32.3": (32, F32_TRIPLES), "f32.samples": (32, F32_SAMPLES),
    "f64": (64, F64_SINGLES), "f64.2": (64, F64_PAIRS), "f64.3": (64, F64_TRIPLES),
    "f16": (16, F16_SINGLES), "f16.2": (16, F16_PAIRS), "f16.3": (16, F16_TRIPLES),
    "bf16": (16, BF16_SINGLES), "bf16.2": (16, BF16_PAIRS), "bf16.3": (16, BF16_TRIPLES),
    "f16x2.2": (32, packed(F16_PAIRS)), "f16x2.3": (32, packed(F16_TRIPLES)),
    "bf16x2.2": (32, packed(BF16_PAIRS)), "bf16x2.3": (32, packed(BF16_TRIPLES)),
    "i16": (16, I16), "i32": (32, I32), "i64": (64, I64),
    "i16.3": (16, I16[::2]), "i32.3": (32, I32[::3]), "i64.3": (64, I64[::3]),
    "counts": (32, COUNTS), "counts.3": (32, COUNTS[::2]),
    "parts": (32, PARTS), "parts.3": (32, PARTS[1::2]), "i32.4": (32, I32[3::5]),
    "f8": (16, F8_PAIRS), "f8.rounding": (32, F8_ROUNDING), "marks": (16, F16_MARKS), "marks.x2": (32, packed(F16_MARKS)),
    "few": (32, [0, 1, 8, 31, 32, 255]),
    "flag": (32, [0, 1]),
    "selector": (32, [0x3210, 0x7654, 0x0123, 0xFEDC, 0x89AB, 0x8F0C, 0x0000, 0x7777, 0xFFFFFFFF, 0x12345]),
    "small": (32, [0, 1, 2, 3, 4, 0xFFFFFFFC]),
}

FLOATS = {16: ("f16",), 32: ("f32",), 64: ("f64",)}
ROUNDINGS = ("rn", "rz", "rm", "rp")
INTEGER_ROUNDINGS = ("rni", "rzi", "rmi", "rpi")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def width_of(kind):
    return max(16, int("".join(c for c in kind if c.isdigit())[:2]))


def unary(op, width, grid):
    return Form(width, (grid,), f"{op} $d, $a;")


def binary(op, width, *grids):
    return Form(width, grids, f"{op} $d, $a, $b;")


def ternary(op, width, *grids):
    return Form(width, grids, f"{op} $d, $a, $b, $c;")


def predicate(op, *grids):
    inputs = ", ".join(("$a", "$b")[: len(grids)])
    return Form(32, grids, f"{op} %p, {inputs}; selp.b32 $d, 1, 0, %p;")


def float_forms():
    for ftz in ("", ".ftz"):
        for op in ("abs", "neg"):
            yield unary(f"{op}{ftz}.f32", 32, "f32")
        for rounding in ROUNDINGS:
            for op in ("sqrt", "rcp"):
                yield unary(f"{op}.{rounding}{ftz}.f32", 32, "f32")
            for op in ("add", "sub", "mul", "div"):
                yield binary(f"{op}.{rounding}{ftz}.f32", 32, "f32.2", "f32.2")
            yield ternary(f"fma.{rounding}{ftz}.f32", 32, "f32.3", "f32.3", "f32.3")
        for op in ("add", "sub", "mul"):
            yield binary(f"{op}{ftz}.sat.f32", 32, "f32.2", "f32.2")
            yield binary(f"{op}{ftz}.f32", 32, "f32.2", "f32.2")
        yield ternary(f"fma.rn{ftz}.sat.f32", 32, "f32.3", "f32.3", "f32.3")
        for op in ("sqrt", "rcp", "rsqrt", "ex2", "lg2", "sin", "cos"):
            yield unary(f"{op}.approx{ftz}.f32", 32, "f32.samples")
        yield binary(f"div.approx{ftz}.f32", 32, "f32.2", "f32.2")
        yield binary(f"div.full{ftz}.f32", 32, "f32.2", "f32.2")
        for op in ("min", "max"):
            for nan in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
                yield binary(f"{op}{ftz}{nan}.f32", 32, "f32.2", "f32.2")
        for comparison in COMPARISONS:
            yield predicate(f"setp.{comparison}{ftz}.f32", "f32.2", "f32.2")
        yield binary(f"set.lt{ftz}.u32.f32", 32, "f32.2", "f32.2")
        yield binary(f"set.ltu{ftz}.f32.f32", 32, "f32.2", "f32.2")
        yield ternary(f"slct{ftz}.b32.f32".replace(".b32", ".u32"), 32, "i32.3", "i32.3", "f32.3")
    yield unary("tanh.approx.f32", 32, "f32.samples")
    yield binary("copysign.f32", 32, "f32.2", "f32.2")
    yield binary("copysign.f64", 64, "f64.2", "f64.2")
    for op in ("abs", "neg", "rsqrt.approx", "rsqrt.approx.ftz", "rcp.approx.ftz"):
        yield unary(f"{op}.f64", 64, "f64")
    for rounding in ROUNDINGS:
        for op in ("sqrt", "rcp"):
            yield unary(f"{op}.{rounding}.f64", 64, "f64")
        for op in ("add", "sub", "mul", "div"):
            yield binary(f"{op}.{rounding}.f64", 64, "f64.2", "f64.2")
        yield ternary(f"fma.{rounding}.f64", 64, "f64.3", "f64.3", "f64.3")
    for op in ("min", "max"):
        yield binary(f"{op}.f64", 64, "f64.2", "f64.2")
    for comparison in COMPARISONS:
        yield predicate(f"setp.{comparison}.f64", "f64.2", "f64.2")
    for kind in ("f32", "f64"):
        for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            yield predicate(f"testp.{test}.{kind}", kind)


def half_forms():
    for ftz in ("", ".ftz"):
        for op in ("add", "sub", "mul"):
            for sat in ("", ".sat"):
                yield binary(f"{op}{ftz}{sat}.f16", 16, "f16.2", "f16.2")
            yield binary(f"{op}.rn{ftz}.f16x2", 32, "f16x2.2", "f16x2.2")
        for extra in ("", ".sat", ".relu"):
            yield ternary(f"fma.rn{ftz}{extra}.f16", 16, "f16.3", "f16.3", "f16.3")
        yield ternary(f"fma.rn{ftz}.f16x2", 32, "f16x2.3", "f16x2.3", "f16x2.3")
        for op in ("min", "max"):
            for nan in ("", ".NaN"):
                yield binary(f"{op}{ftz}{nan}.f16", 16, "f16.2", "f16.2")
        for op in ("abs", "neg"):
            yield unary(f"{op}{ftz}.f16", 16, "f16")
        for comparison in ("eq", "lt", "geu", "nan"):
            yield predicate(f"setp.{comparison}{ftz}.f16", "f16.2", "f16.2")
    yield unary("ex2.approx.f16", 16, "f16")
    yield unary("tanh.approx.f16", 16, "f16")
    for op in ("add", "sub", "mul"):
        yield binary(f"{op}.rn.bf16", 16, "bf16.2", "bf16.2")
        yield binary(f"{op}.rn.bf16x2", 32, "bf16x2.2", "bf16x2.2")
    for extra in ("", ".relu"):
        yield ternary(f"fma.rn{extra}.bf16", 16, "bf16.3", "bf16.3", "bf16.3")
        yield ternary(f"fma.rn{extra}.bf16x2", 32, "bf16x2.3", "bf16x2.3", "bf16x2.3")
    for op in ("min", "max"):
        for nan in ("", ".NaN"):
            yield binary(f"{op}{nan}.bf16", 16, "bf16.2", "bf16.2")
            yield binary(f"{op}{nan}.bf16x2", 32, "bf16x2.2", "bf16x2.2")
            yield binary(f"{op}{nan}.f16x2", 32, "f16x2.2", "f16x2.2")
    for op in ("abs", "neg"):
        yield unary(f"{op}.bf16", 16, "bf16")
    for comparison in ("eq", "lt", "geu", "nan"):
        yield predicate(f"setp.{comparison}.bf16", "bf16.2", "bf16.2")
    yield unary("ex2.approx.ftz.bf16", 16, "bf16")
    yield unary("tanh.approx.bf16", 16, "bf16")


def integer_forms():
    for bits in (16, 32, 64):
        grid, triple = f"i{bits}", f"i{bits}.3"
        for sign in ("s", "u"):
            kind = f"{sign}{bits}"
            for op in ("div", "rem", "min", "max", "mul.lo", "mul.hi"):
                yield binary(f"{op}.{kind}", bits, grid, grid)
            for comparison in ("eq", "ne", "lt", "le", "gt", "ge"):
                yield predicate(f"setp.{comparison}.{kind}", grid, grid)
            for half in ("lo", "hi"):
                yield ternary(f"mad.{half}.{kind}", bits, triple, triple, triple)
            yield ternary(f"sad.{kind}", bits, triple, triple, triple)
            yield binary(f"shr.{kind}", bits, grid, "counts")
            if bits < 64:
                yield binary(f"mul.wide.{kind}", 2 * bits, grid, grid)
                yield ternary(f"mad.wide.{kind}", 2 * bits, triple, triple, f"i{2 * bits}.3")
        for op in ("add", "sub"):
            yield binary(f"{op}.s{bits}", bits, grid, grid)
        for op in ("and", "or", "xor"):
            yield binary(f"{op}.b{bits}", bits, grid, grid)
        for op in ("neg", "abs"):
            yield unary(f"{op}.s{bits}", bits, grid)
        for op in ("not", "cnot"):
            yield unary(f"{op}.b{bits}", bits, grid)
        yield binary(f"shl.b{bits}", bits, grid, "counts")
    for comparison in ("lo", "ls", "hi", "hs"):
        yield predicate(f"setp.{comparison}.u32", "i32", "i32")
    for bits in (32, 64):
        grid = f"i{bits}"
        for op in ("popc", "clz"):
            yield unary(f"{op}.b{bits}", 32, grid)
        yield unary(f"brev.b{bits}", bits, grid)
        for sign in ("s", "u"):
            yield unary(f"bfind.{sign}{bits}", 32, grid)
            yield unary(f"bfind.shiftamt.{sign}{bits}", 32, grid)
            yield ternary(f"bfe.{sign}{bits}", bits, f"{grid}.3", "counts", "counts.3")
        for length in (0, 1, 7, 32, 33, 64, 255):
            yield Form(bits, (f"{grid}.3", f"{grid}.3", "counts.3"), f"bfi.b{bits} $d, $a, $b, $c, {length};")
    for op in ("add.sat", "sub.sat"):
        yield binary(f"{op}.s32", 32, "i32", "i32")
    yield ternary("mad.hi.sat.s32", 32, "i32.3", "i32.3", "i32.3")
    for sign in ("s", "u"):
        for half in ("lo", "hi"):
            yield binary(f"mul24.{half}.{sign}32", 32, "i32", "i32")
            yield ternary(f"mad24.{half}.{sign}32", 32, "i32.3", "i32.3", "i32.3")
        for other in ("s", "u"):
            yield ternary(f"dp4a.{sign}32.{other}32", 32, "i32.3", "i32.3", "i32.3")
            for half in ("lo", "hi"):
                yield ternary(f"dp2a.{half}.{sign}32.{other}32", 32, "i32.3", "i32.3", "i32.3")
        yield ternary(f"slct.{sign}32.s32", 32, "i32.3", "i32.3", "i32.3")
        for mode in ("clamp", "wrap"):
            yield binary(f"szext.{mode}.{sign}32", 32, "i32", "counts")
    yield ternary("mad24.hi.sat.s32", 32, "i32.3", "i32.3", "i32.3")
    for mode in ("clamp", "wrap"):
        yield binary(f"bmsk.{mode}.b32", 32, "counts", "counts")
        for side in ("l", "r"):
            yield ternary(f"shf.{side}.{mode}.b32", 32, "i32.3", "i32.3", "counts.3")
    yield ternary("prmt.b32", 32, "i32.3", "i32.3", "selector")
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        yield ternary(f"prmt.b32.{mode}", 32, "i32.3", "i32.3", "few")
    for table in (0x00, 0x80, 0xFE, 0x96, 0xE8, 0x1B, 0xFF):
        yield Form(32, ("i32.3",) * 3, f"lop3.b32 $d, $a, $b, $c, {table};")
    yield ternary("fns.b32", 32, "i32.3", "few", "small")
    yield Form(32, ("i32.3", "i32.3", "flag"), "setp.ne.u32 %p, $c, 0; selp.b32 $d, $a, $b, %p;")
    yield Form(64, ("i64", "i64"), "add.cc.u32 %w0, 0, 0; add.cc.u64 $d, $a, $b; addc.u64 %x0, 0, 0; xor.b64 $d, $d, %x0;")
    yield Form(32, ("i32", "i32"), "add.cc.u32 %w0, $a, $b; addc.u32 $d, $a, $b;")
    yield Form(32, ("i32", "i32"), "sub.cc.u32 %w0, $a, $b; subc.u32 $d, $a, $b;")
    yield Form(32, ("i32", "i32"), "sub.cc.u32 %w0, $a, $b; addc.u32 $d, $a, $b;")
    yield Form(32, ("i32", "i32"), "add.cc.u32 %w0, $a, $b; subc.u32 $d, $a, $b;")
    yield Form(32, ("i32.3",) * 3, "mad.lo.cc.u32 %w0, $a, $b, $c; madc.hi.u32 $d, $a, $b, 0;")
    yield Form(32, ("i32.3",) * 3, "mad.hi.cc.u32 %w0, $a, $b, $c; addc.u32 $d, 0, 0;")
    yield Form(32, ("i32.3",) * 3, "vabsdiff4.u32.u32.u32.add $d, $a, $b, $c;")


def conversion_forms():
    integers = [f"{sign}{bits}" for bits in (8, 16, 32, 64) for sign in ("s", "u")]

    def bits_of(kind):
        return int(kind[1:])

    def holder(kind):
        """Width of the register: conversions to and from 8 bits use the next register size."""
        return max(16, bits_of(kind))

    def holds(target, origin):
        """Whether every value of one type is one of the other: then there is nothing to saturate."""
        spare = bits_of(target) - bits_of(origin)
        return spare > 0 and (origin[0] == "u" or target[0] == "s") or spare == 0 and target == origin

    for target in integers:
        for origin in integers:
            if target != origin:
                grid = f"i{holder(origin)}"
                yield unary(f"cvt.{target}.{origin}", holder(target), grid)
                if not holds(target, origin):
                    yield unary(f"cvt.sat.{target}.{origin}", holder(target), grid)
        for rounding in INTEGER_ROUNDINGS:
            for ftz in ("", ".ftz"):
                yield unary(f"cvt.{rounding}{ftz}.{target}.f32", holder(target), "f32")
            yield unary(f"cvt.{rounding}.{target}.f64", holder(target), "f64")
        for rounding in ("rni", "rzi"):
            yield unary(f"cvt.{rounding}.sat.{target}.f32", holder(target), "f32")
            yield unary(f"cvt.{rounding}.{target}.f16", holder(target), "f16")
        for rounding in ROUNDINGS:
            for kind in ("f32", "f64"):
                yield unary(f"cvt.{rounding}.{kind}.{target}", bits_of(kind), f"i{holder(target)}")
        yield unary(f"cvt.rn.f16.{target}", 16, f"i{holder(target)}")
        if bits_of(target) > 8:
            yield unary(f"cvt.rn.bf16.{target}", 16, f"i{holder(target)}")
            yield unary(f"cvt.rni.{target}.bf16", holder(target), "bf16")
    for rounding in INTEGER_ROUNDINGS:
        for ftz in ("", ".ftz"):
            yield unary(f"cvt.{rounding}{ftz}.f32.f32", 32, "f32")
        yield unary(f"cvt.{rounding}.f64.f64", 64, "f64")
        yield unary(f"cvt.{rounding}.f16.f16", 16, "f16")
    for rounding in ROUNDINGS:
        for ftz in ("", ".ftz"):
            for sat in ("", ".sat"):
                yield unary(f"cvt.{rounding}{ftz}{sat}.f32.f64", 32, "f64")
    for ftz in ("", ".ftz"):
        yield unary(f"cvt{ftz}.f64.f32", 64, "f32")
        yield unary(f"cvt{ftz}.sat.f32.f32", 32, "f32")
        yield unary(f"cvt{ftz}.f32.f16", 32, "f16")
        yield unary(f"cvt.rn{ftz}.f16.f32", 16, "f32")
    for rounding in ("rn", "rz"):
        yield unary(f"cvt.{rounding}.f16.f32", 16, "f32")
        yield unary(f"cvt.{rounding}.bf16.f32", 16, "f32")
        yield unary(f"cvt.{rounding}.relu.f16.f32", 16, "f32")
        yield binary(f"cvt.{rounding}.f16x2.f32", 32, "f32.2", "f32.2")
        yield binary(f"cvt.{rounding}.bf16x2.f32", 32, "f32.2", "f32.2")
    for rounding in ("rm", "rp"):
        yield unary(f"cvt.{rounding}.f16.f32", 16, "f32")
    yield unary("cvt.rn.f16.f64", 16, "f64")
    yield unary("cvt.f64.f16", 64, "f16")
    yield unary("cvt.f32.bf16", 32, "bf16")
    yield unary("cvt.rn.sat.f16.f32", 16, "f32")
    yield unary("cvt.rna.tf32.f32", 32, "f32")


def atomic_forms():
    """One thread a cell: what the operation leaves in memory, from the old content $a and the operand $b."""
    def leaves(space, address, op, bits, *grids):
        operands = ", ".join(("$b", "$c")[: len(grids) - 1])
        scratch = "%w0" if bits == 32 else "%x0"
        atom = f"atom.{space}.{op} {scratch}, [{address}], {operands};"
        return Form(bits, grids, f"st.{space}.b{bits} [{address}], $a; {atom} ld.{space}.b{bits} $d, [{address}];")

    for space, address in (("global", "$o"), ("shared", "$s")):
        for bits in (32, 64):
            grid = f"i{bits}"
            for op in ("min", "max"):
                for sign in ("s", "u"):
                    yield leaves(space, address, f"{op}.{sign}{bits}", bits, grid, grid)
            for op in ("and", "or", "xor", "exch"):
                yield leaves(space, address, f"{op}.b{bits}", bits, grid, grid)
            yield leaves(space, address, f"add.u{bits}", bits, grid, grid)
            yield leaves(space, address, f"cas.b{bits}", bits, *(f"{grid}.3",) * 3)
        for op in ("inc", "dec"):
            yield leaves(space, address, f"{op}.u32", 32, "i32", "i32")
        yield leaves(space, address, "add.f32", 32, "f32.2", "f32.2")
        yield leaves(space, address, "add.f64", 64, "f64.2", "f64.2")
        yield leaves(space, address, "add.noftz.f16x2", 32, "f16x2.2", "f16x2.2")
        yield leaves(space, address, "add.noftz.bf16x2", 32, "bf16x2.2", "bf16x2.2")
    yield Form(32, ("f32.2", "f32.2"), "st.global.b32 [$o], $a; red.global.add.f32 [$o], $b; ld.global.b32 $d, [$o];")


def video_forms():
    """Instructions on a part of a register, and on all of its parts at once."""
    words = ("u32", "s32")
    selectors = ("", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1")
    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for types in (f"{d}.{a}.{b}" for d in words for a in words for b in words):
            for sat in ("", ".sat"):
                yield binary(f"{op}.{types}{sat}", 32, "i32.4", "parts")
            for second in ("add", "min", "max"):
                yield Form(32, ("parts", "i32.4"), f"{op}.{types}.{second} $d, $a.b1, $b.h0, $a;")
            yield Form(32, ("parts", "i32.4"), f"{op}.{types}.sat.add $d, $a, $b, $a;")
            for to in (".b2", ".h1"):
                yield Form(32, ("parts", "i32.4"), f"{op}.{types}.sat $d{to}, $a.h1, $b.b3, $a;")
        for a, b, to in zip(selectors, selectors[::-1], selectors[1:] + selectors[1:2]):
            yield Form(32, ("parts", "parts"), f"{op}.s32.u32.s32 $d, $a{a}, $b{b};")
            yield Form(32, ("parts", "parts.3"), f"{op}.s32.s32.u32 $d{to}, $a{a}, $b{b}, $a;")
    for op in ("vshl", "vshr"):
        for types in ("u32.u32", "s32.s32", "u32.s32", "s32.u32"):
            for mode in ("clamp", "wrap"):
                for sat in ("", ".sat"):
                    yield binary(f"{op}.{types}.u32{sat}.{mode}", 32, "i32.3", "counts")
                yield Form(32, ("parts.3", "counts"), f"{op}.{types}.u32.sat.{mode}.add $d, $a.h1, $b.b0, $a;")
                yield Form(32, ("parts.3", "counts"), f"{op}.{types}.u32.sat.{mode} $d.b1, $a.b3, $b, $a;")
    for types in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "s32.s32.u32"):
        for sat in ("", ".sat"):
            for scale in ("", ".shr7", ".shr15"):
                yield ternary(f"vmad.{types}{sat}{scale}", 32, "parts.3", "i32.4", "few")
                yield Form(32, ("parts", "parts.3"), f"vmad.{types}{sat}{scale} $d, $a.h1, $b.b3, $a;")
    for sat in ("", ".sat"):
        yield ternary(f"vmad.u32.u32.u32.po{sat}.shr7", 32, "parts.3", "i32.4", "few")
        yield Form(32, ("parts", "i32.4"), f"vmad.s32.s32.s32{sat} $d, -$a, $b, $a;")
        yield Form(32, ("parts", "i32.4"), f"vmad.s32.u32.u32{sat} $d, $a, -$b, $a;")
        yield Form(32, ("parts", "i32.4"), f"vmad.s32.s32.s32{sat}.shr7 $d, $a.h0, $b.h1, -$a;")
    for comparison in ("eq", "ne", "lt", "le", "gt", "ge"):
        for types in ("u32.u32", "s32.s32", "u32.s32", "s32.u32"):
            yield Form(32, ("parts", "parts"), f"vset.{types}.{comparison} $d, $a.b1, $b.h1;")
        yield Form(32, ("parts", "parts.3"), f"vset.s32.u32.{comparison}.add $d, $a, $b, $a;")
        yield Form(32, ("parts", "parts.3"), f"vset.u32.s32.{comparison} $d.h1, $a, $b.b2, $a;")
    for parts, mask, picks in (("2", ".h1", (".h12", ".h30")), ("4", ".b20", (".b0527", ".b7641"))):
        for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
            for types in (f"{d}.{a}.{b}" for d in words for a in words for b in words):
                for extra in ("", ".sat", ".add"):
                    yield Form(32, ("parts", "parts"), f"{op}{parts}.{types}{extra} $d, $a, $b, $b;")
            for extra in ("", ".sat", ".add"):
                picked = f"$d{mask}, $a{picks[0]}, $b{picks[1]}, $a"
                yield Form(32, ("parts", "parts.3"), f"{op}{parts}.s32.s32.s32{extra} {picked};")
        for comparison in ("eq", "ne", "lt", "le", "gt", "ge"):
            for types in ("u32.u32", "s32.u32"):
                yield Form(32, ("parts", "parts"), f"vset{parts}.{types}.{comparison} $d, $a, $b, $a;")
                yield Form(32, ("parts", "parts.3"), f"vset{parts}.{types}.{comparison}.add $d{mask}, $a, $b, $a;")
                yield Form(32, ("parts", "parts.3"), f"vset{parts}.{types}.{comparison} $d{mask}, $a, $b, $a;")


def rare_logic_forms():
    for op in ("and", "or"):
        flag = "setp.ne.u32 %q, $c, 0;"
        answer = "selp.b32 %w0, 0x80000000, 0, %p; xor.b32 $d, $d, %w0;"
        yield Form(32, ("i32", "i32.3", "flag"), f"{flag} lop3.{op}.b32 $d|%p, $a, $b, $c, 0x60, %q; {answer}")
        yield Form(32, ("i32", "i32.3", "flag"), f"{flag} lop3.{op}.b32 $d|%p, $a, $b, $c, 0x88, !%q; {answer}")
    for half in ("f16", "bf16"):
        for comparison in ("lt", "geu", "nan", "eq"):
            for target in ("u16", "s16", half):
                yield binary(f"set.{comparison}.{target}.{half}", 16, f"{half}.3", f"{half}.3")
            for target in ("u32", "s32"):
                yield binary(f"set.{comparison}.{target}.{half}", 32, f"{half}.3", f"{half}.3")
            for target in (f"{half}x2", "u32", "s32"):
                yield binary(f"set.{comparison}.{target}.{half}x2", 32, f"{half}x2.3", f"{half}x2.3")
                answer = f"set.{comparison}.xor.{target}.{half}x2 $d, $a, $b, %q;"
                yield Form(32, (f"{half}x2.3", f"{half}x2.3", "flag"), f"setp.ne.u32 %q, $c, 0; {answer}")
            pair = f"setp.{comparison}.or.{half}x2 %p|%q, $a, $b, %p;"
            answer = "selp.b32 $d, 1, 0, %p; selp.b32 %w0, 2, 0, %q; or.b32 $d, $d, %w0;"
            yield Form(32, (f"{half}x2.3", f"{half}x2.3", "flag"), f"setp.ne.u32 %p, $c, 0; {pair} {answer}")
    yield binary("set.lt.ftz.f16x2.f16x2", 32, "f16x2.2", "f16x2.2")
    yield binary("set.eq.ftz.u32.f16x2", 32, "f16x2.2", "f16x2.2")
    for target, kind, grid in (("u32", "f64", "f64.2"), ("f32", "s64", "i64"), ("s32", "u16", "i16"), ("f32", "b16", "i16")):
        yield binary(f"set.ne.{target}.{kind}", 32, grid, grid)


def rare_half_forms():
    for kind, grid in (("f16", "marks"), ("bf16", "marks"), ("f16x2", "marks.x2"), ("bf16x2", "marks.x2")):
        for extra in ("", ".relu"):
            yield ternary(f"fma.rn.oob{extra}.{kind}", 32 if "x2" in kind else 16, grid, grid, grid)
    for half in ("f16", "bf16"):
        for op in ("min", "max"):
            yield binary(f"{op}.xorsign.abs.{half}", 16, f"{half}.2", f"{half}.2")
            yield binary(f"{op}.NaN.xorsign.abs.{half}x2", 32, f"{half}x2.2", f"{half}x2.2")
        for op in ("abs", "neg", "tanh.approx"):
            yield unary(f"{op}.{half}x2", 32, f"{half}x2.2")
    for op in ("add", "sub", "mul"):
        yield binary(f"{op}.ftz.sat.f16x2", 32, "f16x2.2", "f16x2.2")
    yield ternary("fma.rn.ftz.relu.f16x2", 32, "f16x2.3", "f16x2.3", "f16x2.3")
    for op in ("add", "min", "max"):
        for sign in ("s", "u"):
            yield binary(f"{op}.{sign}16x2", 32, "parts", "parts")
    for op in ("min", "max"):
        yield binary(f"{op}.relu.s16x2", 32, "parts", "parts")
        yield binary(f"{op}.relu.s32", 32, "i32", "i32")


def rare_conversion_forms():
    for half in ("f16", "bf16"):
        other = {"f16": "bf16", "bf16": "f16"}[half]
        for rounding in ("rn", "rz"):
            for extra in (".satfinite", ".relu.satfinite"):
                yield unary(f"cvt.{rounding}{extra}.{half}.f32", 16, "f32")
                yield binary(f"cvt.{rounding}{extra}.{half}x2.f32", 32, "f32.3", "f32.2")
            yield binary(f"cvt.{rounding}.relu.{half}x2.f32", 32, "f32.3", "f32.2")
        for rounding in ROUNDINGS:
            yield unary(f"cvt.{rounding}.{half}.{other}", 16, other)
            yield unary(f"cvt.{rounding}.{half}.f64", 16, "f64")
            for kind in ("s16", "u16", "s32", "u32", "s64", "u64"):
                yield unary(f"cvt.{rounding}.{half}.{kind}", 16, f"i{kind[1:]}")
                yield unary(f"cvt.{rounding}i.{kind}.{half}", int(kind[1:]), half)
        yield unary(f"cvt.{half}.{half}", 16, half)
        yield unary(f"cvt.f64.{half}", 64, half)
    for rounding in INTEGER_ROUNDINGS:
        yield unary(f"cvt.{rounding}.bf16.bf16", 16, "bf16")
    for rounding in ("rm", "rp"):
        yield unary(f"cvt.{rounding}.bf16.f32", 16, "f32")
    yield unary("cvt.sat.f16.f16", 16, "f16")
    for ftz in ("", ".ftz"):
        yield unary(f"cvt{ftz}.sat.f32.f16", 32, "f16")
    for mode in ("rn", "rz", "rn.relu", "rz.relu", "rna.satfinite"):
        yield unary(f"cvt.{mode}.tf32.f32", 32, "f32.samples")
    for kind in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield Form(16, ("f8.rounding",), f"cvt.rn.satfinite{relu}.{kind}.f32 $d, $a, 0f3F800000;")
            yield binary(f"cvt.rn.satfinite{relu}.{kind}.f32", 16, "f32.2", "f32.3")
            yield unary(f"cvt.rn.satfinite{relu}.{kind}.f16x2", 16, "f16x2.2")
            yield unary(f"cvt.rn{relu}.f16x2.{kind}", 32, "f8")
        yield Form(16, ("f8.rounding",), f"cvt.rn.f16x2.f32 %w0, $a, 0fBF800000; cvt.rn.satfinite.{kind}.f16x2 $d, %w0;")
    for kind in ("u16", "s16"):
        yield binary(f"cvt.pack.sat.{kind}.s32", 32, "i32", "i32")
    for kind in ("u8", "s8", "u4", "s4", "u2", "s2"):
        yield ternary(f"cvt.pack.sat.{kind}.s32.b32", 32, "i32", "i32.3", "flag")


def wide_forms():
    """Values of 128 bits, and vectors in one atomic operation."""
    own = ".shared .align 16 .b8 wide[2048]; mad.lo.u32 %s, %t, 16, 0; mov.u32 %w0, wide; add.u32 %s, %s, %w0;"
    pair = ".reg .b128 %q0, %q1; mov.b128 %q0, {$a, $b}; mov.b128 %q1, {$b, $a};"
    yield Form(64, ("i64", "i64"), f"{pair} mov.b128 {{%x0, %x1}}, %q1; shl.b64 %x1, %x1, 1; xor.b64 $d, %x0, %x1;")
    answer = "mov.b128 {%x0, %x1}, %q0; mad.lo.u64 $d, %x0, 3, %x1; ld.shared.v2.u64 {%x0, %x1}, [%s];"
    answer += " mad.lo.u64 $d, $d, 5, %x0; mad.lo.u64 $d, $d, 7, %x1;"
    stored = f"{own} {pair} st.shared.b128 [%s], %q1;"
    yield Form(64, ("i64", "i64"), f"{stored} ld.shared.b128 %q0, [%s]; {answer}")
    yield Form(64, ("i64", "i64"), f"{stored} atom.shared.exch.b128 %q0, [%s], %q0; {answer}")
    yield Form(64, ("i64", "i64"), f"{stored} atom.shared.cas.b128 %q0, [%s], %q0, %q0; {answer}")
    # Each even thread has its own cell and the next one's: 16 bytes of global memory.
    even = "and.b32 %w0, %t, 1; setp.ne.u32 %q, %w0, 0; mov.b64 $d, 0; @%q bra WAIT;"
    done = "WAIT: bar.sync 0;"
    store = "st.global.v2.u32 [$o], {$a, $b}; st.global.v2.u32 [$o+8], {$b, $a};"
    after = "ld.global.v2.u64 {%x0, %x1}, [$o]; mad.lo.u64 $d, $d, 3, %x0; mad.lo.u64 $d, $d, 5, %x1;"
    old = ".reg .b32 %z<4>;"
    four = "{$b, $a, $a, $b}"
    mix = "mov.b64 %x0, {%z0, %z1}; mov.b64 %x1, {%z2, %z3}; mad.lo.u64 $d, %x0, 7, %x1;"
    yield Form(64, ("f32.2", "f32.2"), f"{even} {store} red.global.add.v2.f32 [$o], {{$b, $a}}; {after} {done}")
    yield Form(64, ("f32.2", "f32.2"), f"{even} {store} red.global.add.v4.f32 [$o], {four}; {after} {done}")
    yield Form(64, ("f32.2", "f32.2"), f"{old} {even} {store} atom.global.v4.f32.add {{%z0, %z1, %z2, %z3}}, [$o], {four}; {mix} {after} {done}")
    halves = ".reg .b16 %v<8>; mov.b32 {%v0, %v1}, $a; mov.b32 {%v2, %v3}, $b;"
    eight = "{%v0, %v1, %v2, %v3, %v2, %v1, %v0, %v3}"
    for half in ("f16", "bf16"):
        for op in ("add", "min", "max"):
            grids = (f"{half}x2.2", f"{half}x2.2")
            yield Form(64, grids, f"{old} {even} {store} atom.global.v4.{half}x2.{op}.noftz {{%z0, %z1, %z2, %z3}}, [$o], {four}; {mix} {after} {done}")
            yield Form(64, grids, f"{even} {store} red.global.v2.{half}x2.{op}.noftz [$o], {{$b, $a}}; {after} {done}")
            yield Form(64, grids, f"{halves} {even} {store} red.global.{op}.noftz.v8.{half} [$o], {eight}; {after} {done}")
            yield Form(64, grids, f"{halves} {even} {store} red.global.{op}.noftz.v2.{half} [$o], {{%v2, %v0}}; {after} {done}")
    for half, space, address in ((h, *place) for h in ("f16", "bf16") for place in (("global", "$o"), ("shared", "$s"))):
        operation = f"st.{space}.b16 [{address}], $a; atom.{space}.add.noftz.{half} $d, [{address}], $b;"
        yield Form(16, (f"{half}.2", f"{half}.2"), f"{operation} ld.{space}.b16 $d, [{address}];")


def register_forms():
    """Special registers whose value does not depend on where a block happens to run."""
    axes = [f"{name}.{axis}" for name in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid") for axis in "xyz"]
    for name in axes + ["cluster_ctarank", "cluster_nctarank", "total_smem_size", "aggr_smem_size", "dynamic_smem_size"]:
        yield Form(32, ("i32", "i32.3"), f"mov.u32 $d, %{name};")
    yield Form(32, ("few",), "mov.pred %p, %is_explicit_cluster; selp.b32 $d, 1, 0, %p;")
    yield Form(32, ("i32", "few"), ".reg .v4 .u32 %v; mov.v4.u32 %v, %ntid; mad.lo.u32 $d, %v.x, 7, %v.y; mad.lo.u32 $d, $d, 7, %v.z;")
    places = {
        "global": "mov.b64 %x0, $o;", "shared": "mov.u32 %w0, cells; cvt.u64.u32 %x0, %w0; cvta.shared.u64 %x0, %x0;",
        "local": ".local .b32 slot; mov.b64 %x0, slot; cvta.local.u64 %x0, %x0;", "param": "cvta.param.u64 %x0, n;",
    }
    for place in places.values():
        for space in ("global", "shared", "local", "const", "param", "shared::cta", "shared::cluster"):
            yield Form(32, ("few",), f"{place} isspacep.{space} %p, %x0; selp.b32 $d, 1, 0, %p;")
    yield Form(32, ("few",), f"{places['param']} cvta.to.param.u64 %x1, %x0; ld.param.u32 $d, [%x1]; ld.u32 %w0, [%x0]; sub.u32 $d, $d, %w0; add.u32 $d, $d, %w0;")


def all_forms():
    forms = []
    for group in (
        float_forms, half_forms, integer_forms, conversion_forms, atomic_forms, video_forms, rare_logic_forms,
        rare_half_forms, rare_conversion_forms, wide_forms, register_forms,
    ):
        forms.extend(group())
    return unique(forms)


def entry(name, form):
    """PTX of one kernel: parameters are the output, up to three inputs, and the number of threads."""
    inputs = "abc"[: len(form.grids)]
    lines = [f".visible .entry {name}(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)", "{"]
    lines += [
        ".reg .pred %p, %q; .reg .b32 %i, %n, %t, %w0, %w1, %s; .reg .b64 %o, %x0, %x1, %y;",
        f".reg .b{form.width} %d;",
        ".shared .align 8 .b8 cells[1024];",
        "mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;",
        "ld.param.u32 %n, [n]; setp.ge.u32 %p, %i, %n; @%p ret;",
        "mov.u32 %s, cells; mad.lo.u32 %s, %t, 8, %s;",
        f"ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mul.wide.u32 %y, %i, {form.width // 8}; add.u64 %o, %o, %y;",
    ]
    for letter, grid in zip(inputs, form.grids):
        bits = GRIDS[grid][0]
        lines.append(
            f".reg .b{bits} %{letter}; ld.param.u64 %x0, [{letter}]; cvta.to.global.u64 %x0, %x0; "
            f"mul.wide.u32 %y, %i, {bits // 8}; add.u64 %x0, %x0, %y; ld.global.b{bits} %{letter}, [%x0];"
        )
    body = form.text
    for letter in "abcdos":
        body = body.replace(f"${letter}", f"%{letter}")
    lines += [body, f"st.global.b{form.width} [%o], %d;", "ret;", "}"]
    return "\n".join(lines)


HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n"
BLOCK = 128


def combinations(form):
    """The inputs of every thread, one list an operand."""
    grids = [GRIDS[name][1] for name in form.grids]
    rows = [()]
    for grid in grids:
        rows = [row + (value,) for row in rows for value in grid]
    return [list(column) for column in zip(*rows)]
