// c = a * b for row-major matrices, one thread an element of c, straight from global memory.
//
// matmul_naive(const float* a, const float* b, float* c, u32 m, u32 n, u32 k)
//   a: m x k, b: k x n, c: m x n.
//   geometry:  2-D, any block; x covers the n columns, y the m rows.
//   shared:    none.
//   result:    exact: fused multiply-adds from zero in ascending order of k.

extern "C" __global__ void matmul_naive(const float* a, const float* b, float* c, unsigned m, unsigned n,
                                        unsigned k) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) {
        return;
    }
    float sum = 0.0f;
    for (unsigned i = 0; i < k; ++i) {
        sum = fmaf(a[row * k + i], b[i * n + column], sum);
    }
    c[row * n + column] = sum;
}
