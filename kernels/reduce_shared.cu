// Sums a vector to one partial sum a block, through shared memory and barriers.
//
// reduce_shared(const float* in, float* partial, u32 n)
//   in:        n elements.
//   partial:   one element a block.
//   geometry:  1-D, block of exactly 256, any grid: each thread first sums in grid strides.
//   shared:    1024 bytes, static.
//   result:    f32 sums, reordered: compare to an f64 sum within a tolerance.
//
// reduce_shared_dynamic(const u32* in, u32* partial, u32 n)
//   as above on wrapping u32 (exact), any power-of-two block size up to 1024.
//   shared:    4 * block size bytes, dynamic.

template <typename T>
__device__ void reduce(T* scratch, const T* in, T* partial, unsigned n) {
    T sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    scratch[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned width = blockDim.x / 2; width > 0; width /= 2) {
        if (threadIdx.x < width) {
            scratch[threadIdx.x] += scratch[threadIdx.x + width];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = scratch[0];
    }
}

extern "C" __global__ void reduce_shared(const float* in, float* partial, unsigned n) {
    __shared__ float scratch[256];
    reduce(scratch, in, partial, n);
}

extern "C" __global__ void reduce_shared_dynamic(const unsigned* in, unsigned* partial, unsigned n) {
    extern __shared__ unsigned dynamic_scratch[];
    reduce(dynamic_scratch, in, partial, n);
}
