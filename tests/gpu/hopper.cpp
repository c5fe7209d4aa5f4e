// What `wgmma` and copies by tensor maps do: prints tests/data/goldens/hopper.txt.
//
//     nvcc -arch=sm_90 -std=c++17 hopper.cpp -lcuda && ./a.out >../data/goldens/hopper.txt
//
// Needs a GPU of compute capability 9.0. Every input comes from a generator of numbers that a test has, too, and every
// result is exact: whole numbers, or floating-point numbers that are small whole numbers, whose sums are the same in any
// order. A line names the case, and the next one has a hash of all results (FNV-1a, 64 bits) and some of them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <functional>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

using std::string;
using Bytes = std::vector<uint8_t>;

static void must(CUresult code, const char* what) {
    if (code != CUDA_SUCCESS) { printf("failed: %s %d\n", what, code); exit(3); }
}
#define MUST(call) must(call, #call)

static const char* HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n";

// What a process does until the device fails.
static std::vector<std::function<void()>> cases;

struct Random {
    uint64_t state;
    uint32_t next() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return uint32_t(state >> 33);
    }
};

// Elements that are whole numbers from -4 to 4, or any bits.
static void fill(uint8_t* to, size_t bytes, const string& type, Random& random) {
    static const uint16_t f16[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
    static const uint16_t bf16[] = {0, 0x3f80, 0x4000, 0x4040, 0x4080};
    static const uint8_t e4m3[] = {0, 0x38, 0x40, 0x44, 0x48};
    static const uint8_t e5m2[] = {0, 0x3c, 0x40, 0x42, 0x44};
    size_t size = type == "f16" || type == "bf16" ? 2 : type == "e4m3" || type == "e5m2" || type == "any" ? 1 : 4;
    for (size_t at = 0; at < bytes; at += size) {
        uint32_t bits = random.next();
        int value = int(bits % 9) - 4, sign = value < 0, magnitude = sign ? -value : value;
        if (type == "f16") bits = f16[magnitude] | sign << 15;
        else if (type == "bf16") bits = bf16[magnitude] | sign << 15;
        else if (type == "e4m3") bits = e4m3[magnitude] | sign << 7;
        else if (type == "e5m2") bits = e5m2[magnitude] | sign << 7;
        else if (type == "f32") { float number = float(value); memcpy(&bits, &number, 4); }
        memcpy(to + at, &bits, size);
    }
}

static void print_results(const Bytes& results, const std::vector<size_t>& words) {
    uint64_t hash = 0xcbf29ce484222325;
    for (uint8_t byte : results) hash = (hash ^ byte) * 0x100000001b3;
    printf("%016llx", (unsigned long long)hash);
    for (size_t word : words) {
        uint32_t value = 0;
        if (word * 4 + 4 <= results.size()) memcpy(&value, &results[word * 4], 4);
        printf(" %08x", value);
    }
    printf("\n");
}

// Runs a kernel of one block; prints what went wrong, if anything did.
static bool run(const string& text, unsigned threads, void** args) {
    CUmodule module;
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, (void*)sizeof log};
    CUresult code = cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
    if (code != CUDA_SUCCESS) {
        for (char* at = log; *at; at++) if (*at == '\n') *at = ' ';
        printf("refused %d %s\n", code, log);
        return false;
    }
    CUfunction function;
    MUST(cuModuleGetFunction(&function, module, "k"));
    code = cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, args, nullptr);
    if (code == CUDA_SUCCESS) code = cuCtxSynchronize();
    if (code != CUDA_SUCCESS) {
        // The process can do nothing more with the device.
        printf("failed %d\n", code);
        fflush(stdout);
        _exit(0);
    }
    MUST(cuModuleUnload(module));
    return true;
}

// The bytes of shared memory that products read: those for `a` come first.
const size_t IMAGE = 49152, B_START = 16384;

static string list(const char* name, unsigned count) {
    string text = "{";
    for (unsigned i = 0; i < count; i++) text += (i ? ", %" : "%") + string(name) + std::to_string(i);
    return text + "}";
}

// Which elements of the left factor are there, of a sparse one.
struct Sparse {
    int selector = -1;           // none: all are there
    const char* places = "";     // what the threads have of it
};

// Places of elements: of each four, two in order (`pairs`), of each two, one (`ones`), or any bits.
static void fill_places(uint8_t* to, size_t words, const string& kind, Random& random) {
    static const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, ones[] = {0x4, 0xe};
    for (size_t word = 0; word < words; word++) {
        uint32_t bits = 0;
        for (int at = 0; at < 32; at += 4) {
            uint32_t next = random.next();
            bits |= (kind == "pairs" ? pairs[next % 6] : kind == "ones" ? ones[next % 2] : next & 15) << at;
        }
        memcpy(to + 4 * word, &bits, 4);
    }
}

// One product of a warp group. `a` and `b` are descriptors, without the start of shared memory; 0 for `a` in registers.
static void run_product(const char* form, unsigned registers, const char* types, uint64_t a, uint64_t b, int scale,
                    const char* rest, Sparse sparse = {}) {
    bool is_sparse = sparse.selector >= 0;
    string selector = std::to_string(sparse.selector);
    printf("%s %s %u %s %016llx %016llx %d%s%s\n", is_sparse ? "sparse" : "wgmma", form, registers, types,
           (unsigned long long)a, (unsigned long long)b, scale,
           is_sparse ? (" " + selector + " " + sparse.places).c_str() : "", *rest ? (string(" ") + rest).c_str() : "");
    string names[3];
    const char* at = types;
    for (string& name : names) {
        const char* end = strchr(at, ',');
        name = end ? string(at, end) : string(at);
        at = end ? end + 1 : at;
    }
    string count = std::to_string(registers);
    string text = string(HEADER) + ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 a, .param .u64 b) {\n"
        ".reg .b32 %t, %s, %i, %e, %a<4>, %d<" + count + ">; .reg .b64 %p, %q, %x, %da, %db; .reg .pred %more, %scale;\n"
        ".shared .align 1024 .b8 image[49152];\n"
        "mov.u32 %t, %tid.x; ld.param.u64 %p, [in]; mul.wide.u32 %x, %t, 16; add.u64 %q, %p, %x;\n"
        "mov.u32 %s, image; mad.lo.u32 %s, %t, 16, %s; mov.u32 %i, 0;\n"
        "L: ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%q]; st.shared.v4.b32 [%s], {%a0, %a1, %a2, %a3};\n"
        "add.u64 %q, %q, 2048; add.u32 %s, %s, 2048; add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 24; @%more bra L;\n"
        "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%q];\n"
        "add.u64 %q, %p, 51200; mul.wide.u32 %x, %t, " + std::to_string(4 * registers) + "; add.u64 %q, %q, %x;\n";
    for (unsigned i = 0; i < registers; i++)
        text += "ld.global.b32 %d" + std::to_string(i) + ", [%q+" + std::to_string(4 * i) + "];\n";
    if (is_sparse)
        text += "mul.wide.u32 %x, %t, 4; add.u64 %q, %p, %x; ld.global.b32 %e, [%q+" +
            std::to_string(51200 + 512 * registers) + "];\n";
    text += "mov.u32 %s, image; shr.u32 %s, %s, 4; cvt.u64.u32 %x, %s; ld.param.u64 %da, [a]; ld.param.u64 %db, [b];\n"
        "add.u64 %da, %da, %x; add.u64 %db, %db, %x; setp.eq.u32 %scale, 0, " + string(scale ? "0" : "1") + ";\n"
        "bar.sync 0; fence.proxy.async; wgmma.fence.sync.aligned;\n"
        "wgmma.mma_async" + (is_sparse ? ".sp" : "") + ".sync.aligned." + string(form) + " " + list("d", registers) + ", "
        + (a ? string("%da") : list("a", 4)) + ", %db, " + (is_sparse ? "%e, " + selector + ", " : "") + "%scale"
        + (*rest ? string(", ") + rest : "") + ";\n"
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
        "ld.param.u64 %q, [out]; mul.wide.u32 %x, %t, " + std::to_string(4 * registers) + "; add.u64 %q, %q, %x;\n";
    for (unsigned i = 0; i < registers; i++)
        text += "st.global.b32 [%q+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
    text += "ret; }\n";

    Bytes in(51200 + 512 * registers + 512), out(512 * registers);
    Random random{1};
    fill(&in[0], B_START, names[0], random);
    fill(&in[B_START], IMAGE - B_START, names[1], random);
    fill(&in[IMAGE], 2048, names[0], random);
    fill(&in[51200], 512 * registers, names[2], random);
    fill_places(&in[51200 + 512 * registers], 128, sparse.places, random);
    CUdeviceptr device_in, device_out;
    MUST(cuMemAlloc(&device_in, in.size()));
    MUST(cuMemAlloc(&device_out, out.size()));
    MUST(cuMemcpyHtoD(device_in, in.data(), in.size()));
    void* args[] = {&device_in, &device_out, &a, &b};
    if (!run(text, 128, args)) return;
    MUST(cuMemcpyDtoH(out.data(), device_out, out.size()));
    print_results(out, {0, 1, 2, 3, 33 * registers, 66 * registers + 1, 99 * registers, 127 * registers + registers - 1});
    MUST(cuMemFree(device_in));
    MUST(cuMemFree(device_out));
}

// The fields of a descriptor, in bytes; swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes.
static uint64_t place(uint64_t start, uint64_t leading, uint64_t stride, uint64_t swizzle, uint64_t base = 0) {
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | swizzle << 62;
}

template <class... Arguments> static void product(Arguments... arguments) {
    cases.push_back([=] { run_product(arguments...); });
}

static void products() {
    const uint64_t B = B_START;
    const char* half = "1, 1, 0, 0";
    const char* four = "f16,f16,f32";
    // Factors whose elements lie along k: without a swizzle, in both orders, and with each.
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 128, 256, 0), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 1024, 128, 0), place(B, 2048, 128, 0), 1, half);
    product("m64n16k16.f32.f16.f16", 8, four, place(0, 128, 512, 0), place(B, 512, 1024, 0), 1, half);
    product("m64n32k16.f32.f16.f16", 16, four, place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, half);
    product("m64n32k16.f32.f16.f16", 16, four, place(32, 16, 1024, 1), place(B + 96, 16, 1024, 1), 1, half);
    product("m64n32k16.f32.f16.f16", 16, four, place(64, 0, 2048, 1), place(B + 64, 512, 2048, 1), 1, half);
    product("m64n24k16.f32.f16.f16", 12, four, place(0, 16, 512, 2), place(B, 16, 512, 2), 1, half);
    product("m64n24k16.f32.f16.f16", 12, four, place(32, 16, 512, 2), place(B + 32, 16, 512, 2), 1, half);
    product("m64n40k16.f32.f16.f16", 20, four, place(0, 16, 256, 3), place(B, 16, 256, 3), 1, half);
    product("m64n256k16.f32.f16.f16", 128, four, place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, half);
    // Patterns that do not begin at a multiple of their size, with and without a base offset, and odd starts.
    product("m64n8k16.f32.f16.f16", 4, four, place(256, 16, 1024, 1), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(256, 16, 1024, 1, 2), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 16, 1024, 1, 2), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 16, 1024, 1, 5), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(256, 16, 512, 2, 2), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(128, 16, 512, 2, 1), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(128, 16, 256, 3, 1), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(16, 16, 1024, 1), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(112, 16, 1024, 1), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(48, 16, 512, 2), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 128, 256, 0, 3), place(B, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(16, 128, 256, 0), place(B + 48, 128, 256, 0), 1, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 16, 768, 1), place(B, 16, 128, 1), 1, half);
    // Factors whose elements lie along m or n.
    const char* both = "1, 1, 1, 1";
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 128, 256, 0), place(B, 128, 256, 0), 1, both);
    product("m64n32k16.f32.f16.f16", 16, four, place(0, 1024, 128, 0), place(B, 128, 512, 0), 1, both);
    product("m64n32k16.f32.f16.f16", 16, four, place(0, 512, 256, 3), place(B, 512, 256, 3), 1, both);
    product("m64n64k16.f32.f16.f16", 32, four, place(0, 1024, 512, 2), place(B, 2048, 512, 2), 1, both);
    product("m64n64k16.f32.f16.f16", 32, four, place(0, 2048, 1024, 1), place(B, 2048, 1024, 1), 1, both);
    product("m64n256k16.f32.f16.f16", 128, four, place(2048, 4096, 1024, 1), place(B, 4096, 1024, 1), 1, both);
    product("m64n128k16.f32.f16.f16", 64, four, place(0, 16, 1024, 1), place(B, 8192, 2048, 1), 1, "1, 1, 0, 1");
    product("m64n48k16.f32.f16.f16", 24, four, place(0, 4096, 1024, 1), place(B, 1024, 512, 2), 1, both);
    product("m64n40k16.f32.f16.f16", 20, four, place(0, 4096, 1024, 1), place(B, 1024, 256, 3), 1, both);
    product("m64n96k16.f32.f16.f16", 48, four, place(0, 4096, 1024, 1), place(B + 2048, 2048, 1024, 1), 1, "1, 1, 1, 1");
    product("m64n8k16.f32.f16.f16", 4, four, place(256, 2048, 1024, 1), place(B, 128, 256, 0), 1, "1, 1, 1, 0");
    product("m64n8k16.f32.f16.f16", 4, four, place(256, 2048, 1024, 1, 2), place(B, 128, 256, 0), 1, "1, 1, 1, 0");
    // Signs and scales, factors in registers, types.
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 128, 256, 0), place(B, 128, 256, 0), 0, half);
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 128, 256, 0), place(B, 128, 256, 0), 1, "-1, 1, 0, 0");
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 128, 256, 0), place(B, 128, 256, 0), 1, "1, -1, 0, 0");
    product("m64n8k16.f32.f16.f16", 4, four, place(0, 128, 256, 0), place(B, 128, 256, 0), 0, "-1, -1, 0, 0");
    product("m64n8k16.f32.f16.f16", 4, four, 0, place(B, 128, 256, 0), 1, "1, 1, 0");
    product("m64n64k16.f32.f16.f16", 32, four, 0, place(B, 2048, 1024, 1), 1, "-1, 1, 1");
    product("m64n8k16.f16.f16.f16", 2, "f16,f16,f16", place(0, 128, 256, 0), place(B, 128, 256, 0), 1, half);
    product("m64n24k16.f16.f16.f16", 6, "f16,f16,f16", 0, place(B, 128, 256, 0), 1, "1, -1, 0");
    product("m64n16k16.f32.bf16.bf16", 8, "bf16,bf16,f32", place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, half);
    product("m64n16k16.f32.bf16.bf16", 8, "bf16,bf16,f32", place(0, 2048, 1024, 1), place(B, 128, 512, 0), 1, both);
    product("m64n16k8.f32.tf32.tf32", 8, "f32,f32,f32", place(0, 16, 1024, 1), place(B, 16, 512, 2), 1, "1, -1");
    product("m64n16k8.f32.tf32.tf32", 8, "f32,f32,f32", 0, place(B, 128, 256, 0), 0, "1, 1");
    product("m64n16k32.f32.e4m3.e5m2", 8, "e4m3,e5m2,f32", place(0, 16, 1024, 1), place(B, 16, 512, 2), 1, "1, 1");
    product("m64n16k32.f16.e5m2.e4m3", 4, "e5m2,e4m3,f16", 0, place(B, 128, 256, 0), 1, "-1, 1");
    product("m64n16k32.f32.e4m3.e4m3", 8, "e4m3,e4m3,f32", 0, place(B, 128, 256, 0), 0, "1, 1");
    product("m64n32k32.f32.e5m2.e5m2", 16, "e5m2,e5m2,f32", place(0, 128, 256, 0), place(B, 128, 256, 0), 1, "1, -1");
    product("m64n16k32.s32.s8.s8", 8, "any,any,any", place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, "");
    product("m64n32k32.s32.u8.s8", 16, "any,any,any", place(0, 128, 256, 0), place(B, 16, 512, 2), 0, "");
    product("m64n48k32.s32.s8.u8", 24, "any,any,any", 0, place(B, 16, 256, 3), 1, "");
    product("m64n24k32.s32.u8.u8.satfinite", 12, "any,any,any", 0, place(B, 16, 256, 3), 1, "");
    product("m64n24k32.satfinite.s32.u8.u8", 12, "any,any,any", 0, place(B, 16, 256, 3), 1, "");
    product("m64n8k32.s32.s8.s8.satfinite", 4, "any,any,any", place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, "");
    product("m64n8k32.satfinite.s32.s8.s8", 4, "any,any,any", place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, "");
    product("m64n16k256.s32.b1.b1.and.popc", 8, "any,any,any", place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, "");
    product("m64n8k256.s32.b1.b1.and.popc", 4, "any,any,any", 0, place(B, 128, 256, 0), 0, "");
}

static void sparse_products() {
    const uint64_t B = B_START;
    const char* half = "1, 1, 0, 0";
    const char* both = "1, 1, 1, 1";
    const char* four = "f16,f16,f32";
    const Sparse low{0, "pairs"}, high{1, "pairs"}, any{0, "any"}, other{1, "any"};
    auto f16 = [=](unsigned columns, uint64_t a, uint64_t b, const char* rest, Sparse sparse) {
        string form = "m64n" + std::to_string(columns) + "k32.f32.f16.f16";
        product(strdup(form.c_str()), columns / 2, four, a, b, 1, rest, sparse);
    };
    // Without a swizzle, and with each; the right factor is twice as deep as the left one.
    f16(8, place(0, 128, 256, 0), place(B, 128, 512, 0), half, low);
    f16(8, place(0, 128, 256, 0), place(B, 128, 512, 0), half, high);
    f16(8, place(0, 128, 256, 0), place(B, 128, 512, 0), half, any);
    f16(8, place(0, 128, 256, 0), place(B, 128, 512, 0), half, other);
    f16(16, place(0, 1024, 128, 0), place(B, 256, 128, 0), half, low);
    f16(32, place(0, 16, 1024, 1), place(B, 16, 1024, 1), half, low);
    f16(32, place(32, 16, 1024, 1), place(B + 64, 16, 1024, 1), half, high);
    f16(24, place(0, 16, 512, 2), place(B, 16, 512, 2), half, low);
    f16(40, place(0, 16, 256, 3), place(B, 16, 256, 3), half, low);
    f16(40, place(0, 16, 256, 3), place(B, 2048, 256, 3), half, low);
    f16(16, place(0, 16, 256, 3), place(B, 512, 1024, 3), half, any);
    f16(16, place(0, 16, 1024, 1), place(B + 96, 16, 1024, 1), half, low);
    f16(16, place(0, 16, 1024, 1), place(B + 96, 2048, 1024, 1), half, low);
    f16(16, place(0, 16, 1024, 1), place(B + 32, 2048, 512, 2), half, low);
    f16(256, place(0, 16, 1024, 1), place(B, 16, 1024, 1), half, low);
    // Factors whose elements lie along m or n.
    f16(8, place(0, 128, 256, 0), place(B, 128, 256, 0), both, low);
    f16(32, place(0, 1024, 128, 0), place(B, 128, 512, 0), both, high);
    f16(32, place(0, 512, 256, 3), place(B, 512, 256, 3), both, low);
    f16(64, place(0, 1024, 512, 2), place(B, 2048, 512, 2), both, low);
    f16(64, place(0, 2048, 1024, 1), place(B, 4096, 1024, 1), both, any);
    f16(128, place(0, 16, 1024, 1), place(B, 8192, 2048, 1), "1, 1, 0, 1", high);
    f16(8, place(0, 2048, 1024, 1), place(B, 128, 512, 0), "1, 1, 1, 0", low);
    // Signs and scales, factors in registers, types.
    f16(8, 0, place(B, 128, 512, 0), "1, 1, 0", low);
    f16(8, 0, place(B, 128, 512, 0), "1, 1, 0", high);
    f16(64, 0, place(B, 4096, 1024, 1), "-1, 1, 1", any);
    product("m64n8k32.f32.f16.f16", 4, four, place(0, 128, 256, 0), place(B, 128, 512, 0), 0, "1, -1, 0, 0", high);
    product("m64n8k32.f16.f16.f16", 2, "f16,f16,f16", place(0, 128, 256, 0), place(B, 128, 512, 0), 1, "-1, 1, 0, 0", low);
    product("m64n24k32.f16.f16.f16", 6, "f16,f16,f16", 0, place(B, 128, 512, 0), 1, "1, -1, 0", any);
    product("m64n16k32.f32.bf16.bf16", 8, "bf16,bf16,f32", place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, half, low);
    product("m64n16k32.f32.bf16.bf16", 8, "bf16,bf16,f32", 0, place(B, 128, 512, 0), 1, "1, 1, 1", high);
    const Sparse one{0, "ones"}, second{1, "ones"};
    const char* tf32 = "f32,f32,f32";
    product("m64n16k16.f32.tf32.tf32", 8, tf32, place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, "1, -1", one);
    product("m64n16k16.f32.tf32.tf32", 8, tf32, place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, "1, 1", second);
    product("m64n16k16.f32.tf32.tf32", 8, tf32, 0, place(B, 128, 512, 0), 0, "1, 1", one);
    product("m64n8k16.f32.tf32.tf32", 4, tf32, 0, place(B, 128, 512, 0), 1, "1, 1", second);
    product("m64n16k64.f32.e4m3.e5m2", 8, "e4m3,e5m2,f32", place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, "1, 1", low);
    product("m64n16k64.f16.e5m2.e4m3", 4, "e5m2,e4m3,f16", 0, place(B, 128, 512, 0), 1, "-1, 1", low);
    product("m64n16k64.f32.e4m3.e4m3", 8, "e4m3,e4m3,f32", 0, place(B, 128, 512, 0), 0, "1, 1", any);
    product("m64n32k64.f32.e5m2.e5m2", 16, "e5m2,e5m2,f32", place(0, 128, 256, 0), place(B, 128, 512, 0), 1, "1, -1", low);
    product("m64n16k64.s32.s8.s8", 8, "any,any,any", place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, "", low);
    product("m64n32k64.s32.u8.s8", 16, "any,any,any", place(0, 128, 256, 0), place(B, 16, 512, 2), 0, "", any);
    product("m64n48k64.s32.s8.u8", 24, "any,any,any", 0, place(B, 16, 1024, 1), 1, "", low);
    product("m64n24k64.s32.u8.u8.satfinite", 12, "any,any,any", 0, place(B, 128, 512, 0), 1, "", any);
    product("m64n8k64.s32.s8.s8.satfinite", 4, "any,any,any", place(0, 16, 1024, 1), place(B, 16, 1024, 1), 1, "", low);
}

// A tensor of which every element is known, and a tile of it.
struct Tensor {
    CUtensorMapDataType type;
    const char* fill;  // of memory, or of what is stored
    std::vector<cuuint64_t> sizes, strides;
    std::vector<cuuint32_t> tile;  // or channels and pixels
    std::vector<cuuint32_t> steps;
    CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapFloatOOBfill outside = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    std::vector<int> lower = {}, upper = {};  // of im2col
};

const size_t TENSOR_BYTES = 65536, TILE_BYTES = 24576;

template <class T> static string numbers(const std::vector<T>& values) {
    string text;
    for (T value : values) text += (text.empty() ? "" : ",") + std::to_string((long long)value);
    return text.empty() ? "-" : text;
}

// Copies a tile to shared memory, or back (`operation`: load, store, or that of a reduction).
static void run_copy(const char* operation, const Tensor& tensor, std::vector<int> at, std::vector<int> offsets,
                     unsigned start) {
    unsigned rank = unsigned(tensor.sizes.size());
    bool columns = !tensor.lower.empty(), loads = !strcmp(operation, "load"), stores = !strcmp(operation, "store");
    printf("tensor %s %d %s %s %s %s %s %d %d %d %s %s %s %s %u\n", operation, tensor.type, tensor.fill,
           numbers(tensor.sizes).c_str(), numbers(tensor.strides).c_str(), numbers(tensor.tile).c_str(),
           numbers(tensor.steps).c_str(), tensor.interleave, tensor.swizzle, tensor.outside,
           numbers(tensor.lower).c_str(), numbers(tensor.upper).c_str(), numbers(at).c_str(),
           numbers(offsets).c_str(), start);
    Bytes memory(TENSOR_BYTES), tile(TILE_BYTES), out(TILE_BYTES + 4);
    Random random{7};
    fill(memory.data(), TENSOR_BYTES, tensor.fill, random);
    fill(tile.data(), TILE_BYTES, loads ? "any" : tensor.fill, random);
    CUdeviceptr device_memory, device_tile, device_out;
    MUST(cuMemAlloc(&device_memory, TENSOR_BYTES));
    MUST(cuMemAlloc(&device_tile, TILE_BYTES));
    MUST(cuMemAlloc(&device_out, out.size()));
    MUST(cuMemcpyHtoD(device_memory, memory.data(), TENSOR_BYTES));
    MUST(cuMemcpyHtoD(device_tile, tile.data(), TILE_BYTES));
    MUST(cuMemsetD8(device_out, 0, out.size()));
    alignas(64) CUtensorMap map;
    CUresult code;
    auto strides = tensor.strides;
    strides.resize(4);  // the driver wants a place even where it reads nothing
    if (columns)
        code = cuTensorMapEncodeIm2col(&map, tensor.type, rank, (void*)device_memory, tensor.sizes.data(),
            strides.data(), tensor.lower.data(), tensor.upper.data(), tensor.tile[0], tensor.tile[1],
            tensor.steps.data(), tensor.interleave, tensor.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, tensor.outside);
    else
        code = cuTensorMapEncodeTiled(&map, tensor.type, rank, (void*)device_memory, tensor.sizes.data(),
            strides.data(), tensor.tile.data(), tensor.steps.data(), tensor.interleave, tensor.swizzle,
            CU_TENSOR_MAP_L2_PROMOTION_NONE, tensor.outside);
    if (code != CUDA_SUCCESS) { printf("not encoded %d\n", code); return; }
    static const int sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    unsigned bytes = sizes[tensor.type];
    for (unsigned i = 0; i < tensor.tile.size(); i++) {
        // Steps along the innermost dimension do not count without interleaving.
        unsigned step = columns || i == 0 ? 1 : tensor.steps[i];
        bytes *= (tensor.tile[i] + step - 1) / step;
    }
    string place = "[%m, {", infos;
    for (unsigned i = 0; i < rank; i++) place += (i ? ", %c" : "%c") + std::to_string(i);
    place += "}]";
    at.resize(5);
    for (unsigned i = 0; i < offsets.size(); i++) infos += (i ? ", " : ", {") + std::to_string(offsets[i]);
    if (!offsets.empty()) infos += "}";
    string dim = std::to_string(rank) + "d", mode = columns ? ".im2col" : ".tile";
    string text = string(HEADER) + ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 tile, .param .u64 out, "
        ".param .u32 x0, .param .u32 x1, .param .u32 x2, .param .u32 x3, .param .u32 x4) {\n"
        ".reg .b32 %t, %s, %i, %b, %w<4>, %c<5>; .reg .b64 %p, %q, %x, %m; .reg .pred %first, %more, %done;\n"
        ".shared .align 1024 .b8 tiles[24576]; .shared .align 8 .b64 barrier;\n"
        "ld.param.u32 %c0, [x0]; ld.param.u32 %c1, [x1]; ld.param.u32 %c2, [x2]; ld.param.u32 %c3, [x3]; ld.param.u32 %c4, [x4];\n"
        "mov.b64 %m, map; cvta.param.u64 %m, %m; mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0;\n"
        "ld.param.u64 %p, [tile]; mul.wide.u32 %x, %t, 16; add.u64 %q, %p, %x;\n"
        "mov.u32 %s, tiles; mad.lo.u32 %s, %t, 16, %s; mov.u32 %i, 0;\n"
        "L: ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%q]; st.shared.v4.b32 [%s], {%w0, %w1, %w2, %w3};\n"
        "add.u64 %q, %q, 2048; add.u32 %s, %s, 2048; add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 12; @%more bra L;\n"
        "mov.u32 %b, barrier; @%first mbarrier.init.shared.b64 [%b], 1; fence.proxy.async; bar.sync 0; mov.u32 %i, 0;\n"
        "mov.u32 %s, tiles; add.u32 %s, %s, " + std::to_string(start) + "; @!%first bra E;\n";
    if (loads)
        text += "mbarrier.arrive.expect_tx.shared.b64 _, [%b], " + std::to_string(bytes) + ";\n"
            "cp.async.bulk.tensor." + dim + ".shared::cluster.global" + mode + ".mbarrier::complete_tx::bytes [%s], " + place
            + ", [%b]" + infos + ";\n"
            "W: mbarrier.test_wait.parity.shared.b64 %done, [%b], 0; add.u32 %i, %i, 1;\n"
            "setp.lt.and.u32 %more, %i, 1000000, !%done; @%more bra W; selp.u32 %i, 1, 0, %done;\n";
    else
        text += (stores ? "cp.async.bulk.tensor." : "cp.reduce.async.bulk.tensor.") + dim + ".global.shared::cta"
            + (stores ? "" : string(".") + operation) + (columns ? ".im2col_no_offs" : ".tile") + ".bulk_group "
            + place + ", [%s];\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0; mov.u32 %i, 1;\n";
    text += "E: bar.sync 0; ld.param.u64 %p, [out]; add.u64 %q, %p, %x; @%first st.global.u32 [%p+24576], %i;\n"
        "mov.u32 %s, tiles; mad.lo.u32 %s, %t, 16, %s; mov.u32 %i, 0;\n"
        "M: ld.shared.v4.b32 {%w0, %w1, %w2, %w3}, [%s]; st.global.v4.b32 [%q], {%w0, %w1, %w2, %w3};\n"
        "add.u64 %q, %q, 2048; add.u32 %s, %s, 2048; add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 12; @%more bra M; ret; }\n";
    void* args[] = {&map, &device_tile, &device_out, &at[0], &at[1], &at[2], &at[3], &at[4]};
    if (!run(text, 128, args)) return;
    MUST(cuMemcpyDtoH(out.data(), device_out, out.size()));
    uint32_t done = 0;
    memcpy(&done, &out[TILE_BYTES], 4);
    if (!done) { printf("never complete\n"); return; }
    if (loads) {
        out.resize(TILE_BYTES);
        print_results(out, {start / 4, start / 4 + 1, start / 4 + 4, start / 4 + 8, start / 4 + 32, start / 4 + 64});
    } else {
        MUST(cuMemcpyDtoH(memory.data(), device_memory, TENSOR_BYTES));
        print_results(memory, {0, 1, 4, 8, 32, 64});
    }
    MUST(cuMemFree(device_memory));
    MUST(cuMemFree(device_tile));
    MUST(cuMemFree(device_out));
}

static void copy(const char* operation, Tensor tensor, std::vector<int> at, std::vector<int> offsets = {},
                 unsigned start = 0) {
    cases.push_back([=] { run_copy(operation, tensor, at, offsets, start); });
}

static void copies() {
    const auto U8 = CU_TENSOR_MAP_DATA_TYPE_UINT8, U16 = CU_TENSOR_MAP_DATA_TYPE_UINT16, U32 = CU_TENSOR_MAP_DATA_TYPE_UINT32,
        S32 = CU_TENSOR_MAP_DATA_TYPE_INT32, U64 = CU_TENSOR_MAP_DATA_TYPE_UINT64, S64 = CU_TENSOR_MAP_DATA_TYPE_INT64,
        F16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, BF16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, F32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        F64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64, FTZ = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        TF32 = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, TFTZ = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    const auto NONE = CU_TENSOR_MAP_INTERLEAVE_NONE;
    const auto PLAIN = CU_TENSOR_MAP_SWIZZLE_NONE, S_32 = CU_TENSOR_MAP_SWIZZLE_32B, S_64 = CU_TENSOR_MAP_SWIZZLE_64B,
        S_128 = CU_TENSOR_MAP_SWIZZLE_128B;
    const auto ZERO = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, NAN_ = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    // One to five dimensions, inside and across each border.
    copy("load", {U32, "any", {100}, {}, {64}, {1}}, {10});
    copy("load", {U8, "any", {100}, {}, {64}, {1}}, {-20});
    copy("load", {U16, "any", {64, 32}, {128}, {16, 8}, {1, 1}}, {8, 4});
    copy("load", {U16, "any", {60, 30}, {128}, {16, 8}, {1, 1}}, {52, 25});
    copy("load", {U16, "any", {60, 30}, {128}, {16, 8}, {1, 1}}, {-3, -2});
    copy("load", {U16, "any", {60, 30}, {128}, {16, 8}, {1, 1}}, {-16, 100});
    copy("load", {F32, "any", {10, 9, 8}, {48, 480}, {4, 3, 5}, {1, 1, 1}}, {8, -1, 5});
    copy("load", {U64, "any", {6, 5, 4, 3}, {48, 240, 1024}, {4, 2, 3, 2}, {1, 1, 1, 1}}, {1, 4, -1, 2});
    copy("load", {U32, "any", {5, 4, 3, 3, 3}, {32, 128, 512, 1536}, {4, 2, 3, 2, 2}, {1, 1, 1, 1, 1}}, {2, 3, 1, -1, 2});
    copy("load", {F16, "f16", {60, 30}, {128}, {16, 8}, {1, 1}, NONE, PLAIN, NAN_}, {52, 25});
    copy("load", {BF16, "bf16", {60, 30}, {128}, {16, 8}, {1, 1}, NONE, PLAIN, NAN_}, {52, 25});
    copy("load", {F32, "f32", {60, 30}, {256}, {16, 8}, {1, 1}, NONE, PLAIN, NAN_}, {52, 25});
    copy("load", {F64, "any", {20, 10}, {256}, {16, 8}, {1, 1}, NONE, PLAIN, NAN_}, {12, 5});
    // Types that change values: any bits.
    copy("load", {FTZ, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("load", {TF32, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("load", {TFTZ, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("load", {F16, "any", {64, 32}, {128}, {16, 8}, {1, 1}}, {0, 0});
    copy("store", {FTZ, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("store", {TF32, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    // Swizzles, with rows as long as they may be and shorter, at starts within the pattern.
    copy("load", {F16, "any", {256, 64}, {512}, {64, 32}, {1, 1}, NONE, S_128}, {64, 8});
    copy("load", {F16, "any", {256, 64}, {512}, {32, 32}, {1, 1}, NONE, S_64}, {64, 8});
    copy("load", {F16, "any", {256, 64}, {512}, {16, 32}, {1, 1}, NONE, S_32}, {64, 8});
    copy("load", {F16, "any", {256, 64}, {512}, {32, 32}, {1, 1}, NONE, S_128}, {64, 8});
    copy("load", {F16, "any", {256, 64}, {512}, {24, 16}, {1, 1}, NONE, S_128}, {64, 8});
    copy("load", {F16, "any", {256, 64}, {512}, {16, 32}, {1, 1}, NONE, S_64}, {64, 8});
    copy("load", {F16, "any", {256, 64}, {512}, {8, 32}, {1, 1}, NONE, S_32}, {64, 8});
    copy("load", {F16, "any", {256, 64}, {512}, {64, 32}, {1, 1}, NONE, S_128}, {64, 8}, {}, 256);
    copy("load", {F16, "any", {256, 64}, {512}, {64, 32}, {1, 1}, NONE, S_128}, {64, 8}, {}, 896);
    copy("load", {F16, "any", {256, 64}, {512}, {32, 32}, {1, 1}, NONE, S_64}, {64, 8}, {}, 128);
    copy("load", {F16, "any", {256, 64}, {512}, {16, 32}, {1, 1}, NONE, S_32}, {64, 8}, {}, 128);
    copy("load", {U8, "any", {64, 16, 8}, {64, 1024}, {64, 4, 4}, {1, 1, 1}, NONE, S_64}, {16, 3, 6});
    copy("store", {F16, "any", {256, 64}, {512}, {64, 32}, {1, 1}, NONE, S_128}, {64, 8});
    copy("store", {F16, "any", {256, 64}, {512}, {32, 32}, {1, 1}, NONE, S_64}, {240, 50}, {}, 1024);
    copy("store", {U16, "any", {60, 30}, {128}, {16, 8}, {1, 1}}, {-3, -2});
    copy("store", {U16, "any", {60, 30}, {128}, {16, 8}, {1, 1}}, {52, 25});
    copy("store", {U32, "any", {5, 4, 3, 3, 3}, {32, 128, 512, 1536}, {4, 2, 3, 2, 2}, {1, 1, 1, 1, 1}}, {2, 3, 1, -1, 2});
    // Steps; interleaved layouts are in interleaved.cpp.
    copy("load", {U16, "any", {64, 32}, {128}, {16, 8}, {1, 2}}, {8, 5});
    copy("load", {U16, "any", {64, 32}, {128}, {16, 8}, {2, 3}}, {8, 27});
    copy("load", {U16, "any", {64, 16, 8}, {128, 2048}, {32, 7, 5}, {1, 3, 2}, NONE, S_64}, {0, -2, 4});
    copy("store", {U16, "any", {64, 32}, {128}, {16, 8}, {1, 2}}, {8, 5});
    // Reductions.
    copy("add", {U32, "any", {60, 30}, {256}, {16, 8}, {1, 1}}, {52, 25});
    copy("add", {S32, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("add", {U64, "any", {32, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("add", {F16, "f16", {64, 32}, {128}, {64, 8}, {1, 1}, NONE, S_128}, {0, 0});
    copy("add", {BF16, "bf16", {64, 32}, {128}, {16, 8}, {1, 1}}, {0, 0});
    copy("add", {F32, "f32", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("add", {FTZ, "f32", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("add", {TF32, "f32", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("add", {F64, "any", {32, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("min", {S32, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("max", {U32, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("min", {S64, "any", {32, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("max", {U64, "any", {32, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("max", {F16, "f16", {64, 32}, {128}, {16, 8}, {1, 1}}, {0, 0});
    copy("min", {BF16, "bf16", {64, 32}, {128}, {16, 8}, {1, 1}}, {0, 0});
    copy("min", {F32, "f32", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("inc", {U32, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("dec", {U32, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("and", {U32, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("or", {U64, "any", {32, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("xor", {S32, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("or", {U8, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    copy("add", {U16, "any", {64, 32}, {256}, {16, 8}, {1, 1}}, {0, 0});
    // Columns of pixels: channels, width, height, images.
    copy("load", {U16, "any", {16, 9, 7, 3}, {32, 512, 4096}, {16, 20}, {1, 1, 1, 1}, NONE, PLAIN, ZERO, {0, 0}, {0, 0}}, {0, 2, 1, 0}, {0, 0});
    copy("load", {U16, "any", {16, 9, 7, 3}, {32, 512, 4096}, {16, 20}, {1, 1, 1, 1}, NONE, PLAIN, ZERO, {-1, -1}, {-1, -1}}, {0, 5, 4, 1}, {0, 0});
    copy("load", {U16, "any", {16, 9, 7, 3}, {32, 512, 4096}, {16, 20}, {1, 1, 1, 1}, NONE, PLAIN, ZERO, {-1, -1}, {-1, -1}}, {0, 5, 4, 1}, {2, 1});
    copy("load", {U16, "any", {16, 9, 7, 3}, {32, 512, 4096}, {8, 20}, {1, 2, 2, 1}, NONE, PLAIN, ZERO, {-1, -1}, {-1, -1}}, {8, -1, 1, 2}, {1, 2});
    copy("load", {U16, "any", {16, 9, 7, 3}, {32, 512, 4096}, {16, 70}, {1, 1, 1, 1}, NONE, S_32, ZERO, {-1, -2}, {1, -1}}, {0, 3, 0, 1}, {2, 1});
    copy("load", {U32, "any", {8, 20, 5}, {64, 2048}, {8, 30}, {1, 1, 1}, NONE, PLAIN, ZERO, {-2}, {-1}}, {0, 15, 1}, {1});
    copy("load", {U16, "any", {8, 5, 4, 3, 3}, {32, 256, 1024, 4096}, {8, 40}, {1, 1, 1, 1, 1}, NONE, PLAIN, ZERO, {-1, -1, -1}, {0, -1, 0}}, {0, 2, 1, 0, 1}, {1, 0, 1});
    copy("store", {U16, "any", {16, 9, 7, 3}, {32, 512, 4096}, {16, 20}, {1, 1, 1, 1}, NONE, PLAIN, ZERO, {0, 0}, {0, 0}}, {0, 2, 1, 0});
}

static void open_device() {
    MUST(cuInit(0));
    CUcontext context;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
}

int main() {
    products();
    sparse_products();
    copies();
    // Processes share the number of the next case.
    auto next = (size_t*)mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (bool first = true; *next < cases.size(); first = false) {
        fflush(stdout);
        pid_t child = fork();
        if (child) {
            waitpid(child, nullptr, 0);
            continue;
        }
        open_device();
        if (first) {
            char name[100];
            int driver;
            MUST(cuDeviceGetName(name, sizeof name, 0));
            MUST(cuDriverGetVersion(&driver));
            printf("# %s, driver for CUDA %d.%d, tests/gpu/hopper.cpp\n", name, driver / 1000, driver % 1000 / 10);
        }
        while (*next < cases.size()) cases[(*next)++]();
        fflush(stdout);
        _exit(0);
    }
}
