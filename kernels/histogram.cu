// Counts bytes into 256 bins: shared-memory atomics inside a block, global atomics between blocks.
//
// histogram(const u8* in, u32* bins, u32 n)
//   in:        n bytes.
//   bins:      256 counters, added to (the caller zeroes them).
//   geometry:  1-D, any block size, any grid (grid-stride).
//   shared:    1024 bytes, static.
//   result:    exact.

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, unsigned n) {
    __shared__ unsigned local_bins[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        local_bins[i] = 0;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local_bins[in[i]], 1u);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        if (local_bins[i] != 0) {
            atomicAdd(&bins[i], local_bins[i]);
        }
    }
}
