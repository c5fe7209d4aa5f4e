// A one-dimensional stencil of radius 4 whose coefficients lie in constant memory.
//
// stencil_coefficients: __constant__ float[9], zero until the caller writes it through the module's global.
//
// stencil(const float* in, float* out, u32 n)
//   in, out:   n elements each, not overlapping; indices beyond either end are clamped to it.
//   geometry:  1-D, any block size, at least n threads in all.
//   shared:    none.
//   result:    exact: fused multiply-adds from zero, from the leftmost neighbor to the rightmost.

#define RADIUS 4

extern "C" __constant__ float stencil_coefficients[2 * RADIUS + 1];

extern "C" __global__ void stencil(const float* in, float* out, unsigned n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int last = n - 1;
    if (i > last) {
        return;
    }
    float sum = 0.0f;
    for (int offset = -RADIUS; offset <= RADIUS; ++offset) {
        int neighbor = min(max(i + offset, 0), last);
        sum = fmaf(stencil_coefficients[offset + RADIUS], in[neighbor], sum);
    }
    out[i] = sum;
}
