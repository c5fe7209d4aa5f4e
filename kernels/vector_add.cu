// Adds two vectors element by element.
//
// vector_add(const float* a, const float* b, float* out, u32 n)
//   a, b, out: n elements each.
//   geometry:  1-D, any block size, at least n threads in all; threads beyond n do nothing.
//   shared:    none.
//   result:    exact: one IEEE addition an element.

extern "C" __global__ void vector_add(const float* a, const float* b, float* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}
