"""Records sums of matrix products on random numbers, on a GPU of compute capability 9.0.

    python3 tests/gpu/tensor_core.py > tests/data/goldens/tensor_core.txt

Each line contains the kinds of the factors, of the summands and of the positions of a sparse left
factor, the instruction, and for each of the blocks the FNV-1a hash of its results. A thread has
four words of each factor, four of the summands, and one of positions. For warp groups, the first
warp's right factor counts, in shared memory. Only a driver is needed.
"""

import ctypes
import datetime

BLOCKS, THREADS, RESULTS = 8, 128, 4
NAMES = [f"{part}{word}" for part in "abc" for word in range(4)] + ["e"]
WORDS = len(NAMES)
MASK = (1 << 64) - 1

# Bits that are kept of random words, and bits that are set: exponents near each other, no NaN.
KINDS = {
    "f16": (0xBFFF_BFFF, 0),
    "bf16": (0x87FF_87FF, 0x3800_3800),
    "tf32": (0x87FF_E000, 0x3800_0000),
    "e4m3": (0xBFBF_BFBF, 0),
    "e5m2": (0xBFBF_BFBF, 0),
    "f32": (0x87FF_FFFF, 0x3800_0000),
    "bits": (0xFFFF_FFFF, 0),
}

# Valid positions: of two elements of four, and of one number of two, as its halves.
POSITIONS = {"pairs": [0x4, 0x8, 0x9, 0xC, 0xD, 0xE], "halves": [0x4, 0xE], "any": range(16)}


def forms():
    four = "{%c0, %c1, %c2, %c3}"
    left, right = "{%a0, %a1, %a2, %a3}", "{%b0, %b1}"
    for ty, deep in [("f16", 16), ("bf16", 16), ("tf32", 8), ("e4m3", 32), ("e5m2", 32)]:
        yield ty, "f32", f"mma.sync.aligned.m16n8k{deep}.row.col.f32.{ty}.{ty}.f32 {four}, {left}, {right}, {four};"
        if ty in ("f16", "bf16", "tf32"):
            shape = f"m16n8k{deep // 2}"
            yield ty, "f32", f"mma.sync.aligned.{shape}.row.col.f32.{ty}.{ty}.f32 {four}, {{%a0, %a1}}, {{%b0}}, {four};"
        rest = ", 1, 1, 1, 0;" if ty in ("f16", "bf16") else ", 1, 1, 1;"
        yield ty, "f32", f"wgmma.mma_async.sync.aligned.m64n8k{deep}.f32.{ty}.{ty} {four}, {left}, %x{rest}"
        if ty not in ("bf16", "tf32"):
            two = "{%c0, %c1}"
            yield ty, "f16", f"mma.sync.aligned.m16n8k{deep}.row.col.f16.{ty}.{ty}.f16 {two}, {left}, {right}, {two};"
            yield ty, "f16", f"wgmma.mma_async.sync.aligned.m64n8k{deep}.f16.{ty}.{ty} {two}, {left}, %x{rest}"
    mixed = "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32"
    yield "e4m3", "f32", f"{mixed} {four}, {left}, {right}, {four};"
    short = "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32"
    yield "e4m3", "f32", f"{short} {four}, {{%a0, %a1}}, {{%b0}}, {four};"


def sparse_forms():
    """Yields kinds and instructions with each selector of lanes, short and long."""
    for ty, depths, sums in [
        ("f16", (16, 32), ("f16", "f32")),
        ("bf16", (16, 32), ("f32",)),
        ("tf32", (8, 16), ("f32",)),
        ("s8", (32, 64), ("s32",)),
        ("u8", (32, 64), ("s32",)),
        ("s4", (64, 128), ("s32",)),
        ("u4", (64, 128), ("s32",)),
        ("e4m3", (64,), ("f32",)),
        ("e5m2", (64,), ("f32",)),
    ]:
        for depth in depths:
            registers = 4 if depth == depths[-1] else 2
            if ty in ("e4m3", "e5m2") or registers == 4 and ty in ("s8", "u8", "s4", "u4"):
                selectors = 1
            else:
                selectors = 4 if registers == 2 and ty in ("f16", "bf16", "tf32") else 2
            for total in sums:
                names = ["c0", "c1"] if total == "f16" else ["c0", "c1", "c2", "c3"]
                d = "{" + ", ".join(f"%{name}" for name in names) + "}"
                a, b = ("{" + ", ".join(f"%{part}{word}" for word in range(registers)) + "}" for part in "ab")
                saturated = ".satfinite" if ty in ("u8", "s4") else ""
                for selector in range(selectors):
                    for ordered in ("", "::ordered_metadata"):
                        for positions in ("halves" if ty == "tf32" else "pairs", "any"):
                            if positions == "any" and ordered:
                                continue
                            instruction = (
                                f"mma.sp{ordered}.sync.aligned.m16n8k{depth}.row.col{saturated}.{total}.{ty}.{ty}.{total} "
                                f"{d}, {a}, {b}, {d}, %e, {selector:#x};"
                            )
                            factors = "bits" if ty in ("s8", "u8", "s4", "u4") else ty
                            yield factors, "bits" if total == "s32" else total, positions, instruction


def kernel(instruction):
    """Returns the module of a form; `tests/engine/tensor_core.rs` has the same."""
    group = instruction.startswith("wgmma")
    if group:
        instruction = (
            "setp.lt.u32 %p, %t, 32; mov.u32 %s, image; mad.lo.u32 %n, %t, 4, %s; @%p st.shared.b32 [%n], %b0; "
            "@%p st.shared.b32 [%n+128], %b1; bar.sync 0; fence.proxy.async; shr.u32 %s, %s, 4; cvt.u64.u32 %x, %s; "
            f"or.b64 %x, %x, 0x800080000; wgmma.fence.sync.aligned; {instruction} "
            "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
        )
    loads = "".join(f"ld.global.b32 %{name}, [%q+{4 * word}]; " for word, name in enumerate(NAMES))
    stores = "".join(f"st.global.b32 [%q+{4 * word}], %c{word}; " for word in range(RESULTS))
    return (
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .b32 %t, %n, %s, %e, %a<4>, %b<4>, %c<4>; .reg .b64 %p0, %q, %x; .reg .pred %p;\n"
        ".shared .align 128 .b8 image[256];\nmov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; "
        f"mad.lo.u32 %n, %n, {THREADS}, %t; ld.param.u64 %p0, [in]; mad.wide.u32 %q, %n, {4 * WORDS}, %p0; {loads}\n"
        f"ld.param.u64 %p0, [out]; mad.wide.u32 %q, %n, {4 * RESULTS}, %p0;\n{instruction}\n{stores}\nret;\n}}\n"
    )


def random(seed, index):
    z = (seed * 0x9E37_79B9_7F4A_7C15 + index * 0xD1B5_4A32_D192_ED03 + 1) & MASK
    z = (z ^ z >> 30) * 0xBF58_476D_1CE4_E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D0_49BB_1331_11EB & MASK
    return (z ^ z >> 31) >> 32


def inputs(seed, factors, summands, positions):
    words = []
    for index in range(BLOCKS * THREADS * WORDS):
        word, name = random(seed, index), NAMES[index % WORDS]
        if name == "e":
            choice = POSITIONS[positions]
            word = sum(choice[(word >> shift & 15) % len(choice)] << shift for shift in range(0, 32, 4))
        else:
            keep, put = KINDS[summands if name[0] == "c" else factors]
            word = word & keep | put
        words.append(word)
    return words


def fingerprint(words):
    digest = 0xCBF2_9CE4_8422_2325
    for word in words:
        for byte in word.to_bytes(4, "little"):
            digest = (digest ^ byte) * 0x100_0000_01B3 & MASK
    return digest


def main():
    cuda = ctypes.CDLL("libcuda.so.1")

    def ok(code):
        assert code == 0, code

    ok(cuda.cuInit(0))
    device, context, version = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
    ok(cuda.cuDeviceGet(ctypes.byref(device), 0))
    ok(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device))
    name = ctypes.create_string_buffer(80)
    ok(cuda.cuDeviceGetName(name, 80, device))
    ok(cuda.cuDriverGetVersion(ctypes.byref(version)))
    try:
        driver = open("/proc/driver/nvidia/version").read().split("Module")[1].split()
        driver = next(word for word in driver if word[0].isdigit())
    except OSError:
        driver = f"of CUDA {version.value // 1000}"
    print(f"# {datetime.date.today()}: {name.value.decode()}, driver {driver}, by tests/gpu/tensor_core.py")
    a, b = ctypes.c_uint64(), ctypes.c_uint64()
    bytes_in, bytes_out = BLOCKS * THREADS * WORDS * 4, BLOCKS * THREADS * RESULTS * 4
    ok(cuda.cuMemAlloc_v2(ctypes.byref(a), ctypes.c_size_t(bytes_in)))
    ok(cuda.cuMemAlloc_v2(ctypes.byref(b), ctypes.c_size_t(bytes_out)))
    dense = [(factors, summands, "any", instruction) for factors, summands, instruction in forms()]
    for seed, (factors, summands, positions, instruction) in enumerate([*dense, *sparse_forms()]):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        ok(cuda.cuModuleLoadData(ctypes.byref(module), kernel(instruction).encode() + b"\0"))
        ok(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"k"))
        words = inputs(seed, factors, summands, positions)
        ok(cuda.cuMemcpyHtoD_v2(a, (ctypes.c_uint32 * len(words))(*words), ctypes.c_size_t(bytes_in)))
        params = (ctypes.c_void_p * 2)(ctypes.addressof(a), ctypes.addressof(b))
        ok(cuda.cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, None, params, None))
        ok(cuda.cuCtxSynchronize())
        out = (ctypes.c_uint32 * (bytes_out // 4))()
        ok(cuda.cuMemcpyDtoH_v2(out, b, ctypes.c_size_t(bytes_out)))
        each = THREADS * RESULTS
        digests = [f"{fingerprint(out[block * each:][:each]):016x}" for block in range(BLOCKS)]
        print(factors, summands, positions, "|", instruction, "|", *digests)
        ok(cuda.cuModuleUnload(module))


main()
