// Kernels with a planted bug that need not fault, each beside its corrected twin (suffix _fixed).
// For the emulator's checks and for compute-sanitizer. Compiled with line information.
// nvrtc: -lineinfo
//
// race_shared, race_shared_fixed (const u32* in, u32* out)
//   block of exactly 64, in and out: 64 elements a block; the bug is a missing barrier. 256 bytes of shared memory.
// race_global, race_global_fixed (u32* counter)
//   any geometry with more than one block; plain against atomic increment of one element.
// uninitialized_global, uninitialized_global_fixed (const u32* in, u32* out, u32 n)
//   any geometry covering n; the bug reads in[n], which the caller allocates (n + 1 elements) but never writes.
// uninitialized_shared, uninitialized_shared_fixed (u32* out)
//   block of exactly 64, out: 64 elements a block; the bug reads what only even threads wrote. 256 bytes.
// divergent_barrier, divergent_barrier_fixed (u32* out)
//   block of exactly 64, out: 64 elements a block; the bug skips a barrier in the odd half of a warp. 256 bytes.
// off_by_one, off_by_one_fixed (float* out, u32 n)
//   at least n + 1 threads, out: n elements; the bug compares with <= and writes out[n].

#define BLOCK 64

extern "C" __global__ void race_shared(const unsigned* in, unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    unsigned base = blockIdx.x * BLOCK;
    scratch[threadIdx.x] = in[base + threadIdx.x];
    out[base + threadIdx.x] = scratch[BLOCK - 1 - threadIdx.x];
}

extern "C" __global__ void race_shared_fixed(const unsigned* in, unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    unsigned base = blockIdx.x * BLOCK;
    scratch[threadIdx.x] = in[base + threadIdx.x];
    __syncthreads();
    out[base + threadIdx.x] = scratch[BLOCK - 1 - threadIdx.x];
}

extern "C" __global__ void race_global(unsigned* counter) {
    counter[0] += 1;
}

extern "C" __global__ void race_global_fixed(unsigned* counter) {
    atomicAdd(counter, 1u);
}

extern "C" __global__ void uninitialized_global(const unsigned* in, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i + 1];
    }
}

extern "C" __global__ void uninitialized_global_fixed(const unsigned* in, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i];
    }
}

extern "C" __global__ void uninitialized_shared(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    if (threadIdx.x % 2 == 0) {
        scratch[threadIdx.x] = threadIdx.x;
    }
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x];
}

extern "C" __global__ void uninitialized_shared_fixed(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x];
}

extern "C" __global__ void divergent_barrier(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x];
}

extern "C" __global__ void divergent_barrier_fixed(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x];
}

extern "C" __global__ void off_by_one(float* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        out[i] = 1.0f;
    }
}

extern "C" __global__ void off_by_one_fixed(float* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 1.0f;
    }
}
