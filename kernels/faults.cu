// Kernels that end in a device fault, one fault each. Compiled with line information.
// nvrtc: -lineinfo
//
// Geometry is free, no shared memory; one thread is enough for each.
//
// oob_write(u32* out, u64 index, u32 value)   thread 0 of block 0 writes out[index], whatever its length.
// oob_read(const u32* in, u64 index, u32* out) the same for reading; out: 1 element.
// misaligned_write(u8* out)                   writes four bytes at out + 1: out must be 4-byte aligned, 8 bytes.
// null_write()                                writes through a null pointer.
// trap_if(const u32* flag)                    traps when flag[0] is not zero.
// assert_below(const u32* values, u32 n, u32 limit)  one thread an element; asserts values[i] < limit.
// recurse(u32* out, u32 depth)                a frame of over 1 KiB a level: overflows the stack when depth is large.
// spin(const volatile u32* flag)              loops until flag[0] is not zero.

extern "C" __global__ void oob_write(unsigned* out, unsigned long long index, unsigned value) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        out[index] = value;
    }
}

extern "C" __global__ void oob_read(const unsigned* in, unsigned long long index, unsigned* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        out[0] = in[index];
    }
}

extern "C" __global__ void misaligned_write(unsigned char* out) {
    *(volatile unsigned*)(out + 1) = 1;
}

extern "C" __global__ void null_write() {
    *(volatile unsigned*)0 = 1;
}

extern "C" __global__ void trap_if(const unsigned* flag) {
    if (flag[0] != 0) {
        __trap();
    }
}

extern "C" __global__ void assert_below(const unsigned* values, unsigned n, unsigned limit) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        assert(values[i] < limit);
    }
}

__device__ __noinline__ unsigned descend(unsigned depth, unsigned seed) {
    volatile unsigned frame[256];
    for (unsigned i = 0; i < 256; ++i) {
        frame[i] = seed + i;
    }
    if (depth == 0) {
        return frame[seed % 256];
    }
    unsigned below = descend(depth - 1, frame[depth % 256]);
    return below + frame[below % 256];
}

extern "C" __global__ void recurse(unsigned* out, unsigned depth) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = descend(depth, threadIdx.x);
}

extern "C" __global__ void spin(const volatile unsigned* flag) {
    while (flag[0] == 0) {
    }
}
