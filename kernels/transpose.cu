// Transposes a row-major matrix through a padded shared tile.
//
// transpose(const float* in, float* out, u32 rows, u32 columns)
//   in: rows x columns, out: columns x rows.
//   geometry:  block of exactly 32 x 8; grid ceil(columns / 32) x ceil(rows / 32).
//   shared:    4224 bytes, static (32 x 33 floats: the padding avoids bank conflicts).
//   result:    exact.

#define TILE 32
#define BLOCK_ROWS 8

extern "C" __global__ void transpose(const float* in, float* out, unsigned rows, unsigned columns) {
    __shared__ float tile[TILE][TILE + 1];
    unsigned column = blockIdx.x * TILE + threadIdx.x;
    unsigned row = blockIdx.y * TILE + threadIdx.y;
    for (unsigned i = 0; i < TILE; i += BLOCK_ROWS) {
        if (row + i < rows && column < columns) {
            tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * columns + column];
        }
    }
    __syncthreads();
    column = blockIdx.y * TILE + threadIdx.x;
    row = blockIdx.x * TILE + threadIdx.y;
    for (unsigned i = 0; i < TILE; i += BLOCK_ROWS) {
        if (row + i < columns && column < rows) {
            out[(row + i) * rows + column] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}
