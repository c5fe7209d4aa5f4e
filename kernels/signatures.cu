// Kernels with awkward parameter lists, for the checks of a launch's arguments.
//
// One thread each, no shared memory. Every kernel writes all its arguments, as bytes in declaration order
// without padding, to out; offsets and sizes below are the kernel's parameter layout.
//
// no_arguments()                                               does nothing.
// mixed_scalars(u8* out, u8 a, u16 b, u32 c, u64 d, float e, double f)
//   offsets 0 8 10 12 16 24 32, sizes 8 1 2 4 8 4 8; writes 27 bytes.
// vector_after_pointer(u8* out, u32 a, float4 b, uint2 c)
//   offsets 0 8 16 32, sizes 8 4 16 8; writes 28 bytes.
// structure_by_value(u8* out, Body body, u8 tail)
//   Body is { float position[3]; double mass; u16 id; }: size 32, alignment 8.
//   offsets 0 8 40, sizes 8 32 1; writes 23 bytes (the fields, not the padding).
// large_structure(u8* out, Table table)
//   Table is { u32 entries[64]; }: offsets 0 8, sizes 8 256; writes 256 bytes.
// many_pointers(u32* p0, ..., u32* p15)
//   sixteen pointers to one element each; writes i to pi.

struct Body {
    float position[3];
    double mass;
    unsigned short id;
};

struct Table {
    unsigned entries[64];
};

template <typename T>
__device__ unsigned char* put(unsigned char* out, const T& value) {
    const unsigned char* bytes = (const unsigned char*)&value;
    for (unsigned i = 0; i < sizeof(T); ++i) {
        out[i] = bytes[i];
    }
    return out + sizeof(T);
}

extern "C" __global__ void no_arguments() {}

extern "C" __global__ void mixed_scalars(unsigned char* out, unsigned char a, unsigned short b, unsigned c,
                                         unsigned long long d, float e, double f) {
    out = put(out, a);
    out = put(out, b);
    out = put(out, c);
    out = put(out, d);
    out = put(out, e);
    put(out, f);
}

extern "C" __global__ void vector_after_pointer(unsigned char* out, unsigned a, float4 b, uint2 c) {
    out = put(out, a);
    out = put(out, b);
    put(out, c);
}

extern "C" __global__ void structure_by_value(unsigned char* out, Body body, unsigned char tail) {
    out = put(out, body.position);
    out = put(out, body.mass);
    out = put(out, body.id);
    put(out, tail);
}

extern "C" __global__ void large_structure(unsigned char* out, Table table) {
    put(out, table);
}

extern "C" __global__ void many_pointers(unsigned* p0, unsigned* p1, unsigned* p2, unsigned* p3, unsigned* p4,
                                         unsigned* p5, unsigned* p6, unsigned* p7, unsigned* p8, unsigned* p9,
                                         unsigned* p10, unsigned* p11, unsigned* p12, unsigned* p13, unsigned* p14,
                                         unsigned* p15) {
    unsigned* all[16] = {p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15};
    for (unsigned i = 0; i < 16; ++i) {
        *all[i] = i;
    }
}
