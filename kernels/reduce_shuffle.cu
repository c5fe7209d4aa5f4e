// Sums a vector to one partial sum a block, with shuffles inside each warp.
//
// reduce_shuffle(const float* in, float* partial, u32 n)
//   in:        n elements.
//   partial:   one element a block.
//   geometry:  1-D, block a multiple of 32 up to 1024, any grid (grid-stride).
//   shared:    128 bytes, static: one sum a warp.
//   result:    f32 sums, reordered: compare to an f64 sum within a tolerance.
//
// reduce_shuffle_u32(const u32* in, u32* partial, u32 n)
//   as above on wrapping u32 (exact).

template <typename T>
__device__ T sum_warp(T value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

template <typename T>
__device__ void reduce(T* warp_sums, const T* in, T* partial, unsigned n) {
    T sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    sum = sum_warp(sum);
    unsigned lane = threadIdx.x % 32;
    unsigned warp = threadIdx.x / 32;
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warp_sums[lane] : T(0);
        sum = sum_warp(sum);
        if (lane == 0) {
            partial[blockIdx.x] = sum;
        }
    }
}

extern "C" __global__ void reduce_shuffle(const float* in, float* partial, unsigned n) {
    __shared__ float warp_sums[32];
    reduce(warp_sums, in, partial, n);
}

extern "C" __global__ void reduce_shuffle_u32(const unsigned* in, unsigned* partial, unsigned n) {
    __shared__ unsigned warp_sums[32];
    reduce(warp_sums, in, partial, n);
}
