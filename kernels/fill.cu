// Sets every element of a vector to one value, for each width a driver call deals in.
//
// fill_u8, fill_u16, fill_u32, fill_u64, fill_f32, fill_f64 (T* out, T value, u64 n)
//   out:       n elements of T.
//   geometry:  1-D, any number of threads (grid-stride).
//   shared:    none.
//   result:    exact, bit for bit (a NaN keeps its payload).

template <typename T>
__device__ void fill(T* out, T value, unsigned long long n) {
    unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned long long i = first; i < n; i += stride) {
        out[i] = value;
    }
}

#define FILL(NAME, T) \
    extern "C" __global__ void NAME(T* out, T value, unsigned long long n) { fill(out, value, n); }

FILL(fill_u8, unsigned char)
FILL(fill_u16, unsigned short)
FILL(fill_u32, unsigned)
FILL(fill_u64, unsigned long long)
FILL(fill_f32, float)
FILL(fill_f64, double)
