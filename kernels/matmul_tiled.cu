// c = a * b for row-major matrices, 16 x 16 tiles staged through shared memory.
//
// matmul_tiled(const float* a, const float* b, float* c, u32 m, u32 n, u32 k)
//   a: m x k, b: k x n, c: m x n; no side need be a multiple of 16.
//   geometry:  block of exactly 16 x 16; grid ceil(n / 16) x ceil(m / 16).
//   shared:    2048 bytes, static.
//   result:    exact: fused multiply-adds from zero in ascending order of k, then of the zero padding.

#define TILE 16

extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, unsigned m, unsigned n,
                                        unsigned k) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned column = blockIdx.x * TILE + x;
    unsigned row = blockIdx.y * TILE + y;
    float sum = 0.0f;
    for (unsigned first = 0; first < k; first += TILE) {
        tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
        tile_b[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0.0f;
        __syncthreads();
        for (unsigned i = 0; i < TILE; ++i) {
            sum = fmaf(tile_a[y][i], tile_b[i][x], sum);
        }
        __syncthreads();
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}
