// Kernels on matrices, pictures and volumes, whose lanes mostly do the same.
//
// floyd(u32* distances, u32 n)
//   One block of (32, 32) for a graph of n vertices, n * n distances at most 2^30: the shortest of all pairs, in place,
//   two barriers for each vertex. n is at most 64, and shared memory holds the row and column of the vertex.
// stencil_3d(const float* in, float* out, u32 side)
//   out = seven-point average of a cube; its faces are copied. A thread for each (x, y), 2-D geometry, loops over z.
// convolve(const float* in, float* out, u32 width, u32 height)
//   5x5 filter with weights in constant memory; places outside count as the nearest inside. 2-D geometry, a thread for
//   each pixel.
// life(const u8* in, u8* out, u32 side)
//   One generation of the game of life on a torus, one byte for each cell. 2-D geometry, a thread for each cell.
// levenshtein(const u8* words, u32* out, u32 length, u32 n)
//   out[i] receives the edit distance of words i and i + 1 of n + 1 words of `length` letters, length at most 32, with a
//   row of the table in local memory. Any 1-D geometry with n threads.
// align(const u8* a, const u8* b, u32* out, u32 length)
//   The same for two words of `length` letters, one block of `length` threads, at most 256: an antidiagonal at a time,
//   in shared memory, a barrier after each.
// transpose_padded(const float* in, float* out, u32 side)
//   Tiles of 32x32 with a row of 33 words in shared memory. Blocks of (32, 8), grid of (side / 32, side / 32).
// matmul_double(const double* a, const double* b, double* c, u32 side)
//   c = a * b, tiles of 16x16 in shared memory. Blocks of (16, 16), side a multiple of 16.
// index_64(const float* in, float* out, u64 rows, u64 columns, u64 pitch)
//   out[column * rows + row] receives twice in[row * pitch + column], with 64-bit arithmetic and divisions. Grid-stride.
// smooth(const float* in, float* out, u32 n, u32 rounds)
//   `rounds` times the average of three neighbors among n floats of a block, two shared arrays by turns. One block of n
//   threads for each n floats, n at most 512.

extern "C" __global__ void floyd(unsigned* distances, unsigned n) {
    __shared__ unsigned row[64], column[64];
    unsigned t = threadIdx.y * 32 + threadIdx.x;
    for (unsigned k = 0; k < n; ++k) {
        if (t < n) {
            row[t] = distances[k * n + t];
            column[t] = distances[t * n + k];
        }
        __syncthreads();
        for (unsigned y = threadIdx.y; y < n; y += 32) {
            for (unsigned x = threadIdx.x; x < n; x += 32) {
                distances[y * n + x] = min(distances[y * n + x], column[y] + row[x]);
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ void stencil_3d(const float* in, float* out, unsigned side) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side) {
        return;
    }
    unsigned last = side - 1, layer = side * side;
    for (unsigned z = 0; z < side; ++z) {
        unsigned i = z * layer + y * side + x;
        if (x == 0 || y == 0 || z == 0 || x == last || y == last || z == last) {
            out[i] = in[i];
        } else {
            out[i] = (in[i] * 2.0f + in[i - 1] + in[i + 1] + in[i - side] + in[i + side] + in[i - layer] +
                      in[i + layer]) * 0.125f;
        }
    }
}

__constant__ float weights[25] = {1, 4,  6,  4,  1, 4, 16, 24, 16, 4, 6, 24, 36,
                                  24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1};

extern "C" __global__ void convolve(const float* in, float* out, unsigned width, unsigned height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= (int)width || y >= (int)height) {
        return;
    }
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) {
            int column = min(max(x + dx, 0), (int)width - 1), row = min(max(y + dy, 0), (int)height - 1);
            sum += weights[(dy + 2) * 5 + dx + 2] * in[row * (int)width + column];
        }
    }
    out[y * (int)width + x] = sum * (1.0f / 256.0f);
}

extern "C" __global__ void life(const unsigned char* in, unsigned char* out, unsigned side) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side) {
        return;
    }
    unsigned left = x == 0 ? side - 1 : x - 1, right = x + 1 == side ? 0 : x + 1;
    unsigned above = (y == 0 ? side - 1 : y - 1) * side, own = y * side, below = (y + 1 == side ? 0 : y + 1) * side;
    unsigned count = in[above + left] + in[above + x] + in[above + right] + in[own + left] + in[own + right] +
                     in[below + left] + in[below + x] + in[below + right];
    out[own + x] = count == 3 || (count == 2 && in[own + x]) ? 1 : 0;
}

extern "C" __global__ void levenshtein(const unsigned char* words, unsigned* out, unsigned length, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const unsigned char *a = words + i * length, *b = a + length;
    unsigned row[33];
    for (unsigned k = 0; k <= length; ++k) {
        row[k] = k;
    }
    for (unsigned y = 0; y < length; ++y) {
        unsigned diagonal = y, left = y + 1;
        row[0] = left;
        for (unsigned x = 0; x < length; ++x) {
            unsigned change = diagonal + (a[x] != b[y]);
            diagonal = row[x + 1];
            left = min(min(diagonal, left) + 1, change);
            row[x + 1] = left;
        }
    }
    out[i] = row[length];
}

extern "C" __global__ void align(const unsigned char* a, const unsigned char* b, unsigned* out, unsigned length) {
    __shared__ unsigned diagonals[3][257];
    unsigned y = threadIdx.x + 1;
    unsigned char own = b[y - 1];
    for (unsigned d = 0; d <= 2 * length; ++d) {
        unsigned *now = diagonals[d % 3], *last = diagonals[(d + 2) % 3], *older = diagonals[(d + 1) % 3];
        if (y == 1 && d <= length) {
            now[0] = d;
        }
        if (d == y) {
            now[y] = d;
        } else if (d > y && d - y <= length) {
            now[y] = min(min(last[y], last[y - 1]) + 1, older[y - 1] + (a[d - y - 1] != own));
        }
        __syncthreads();
    }
    if (y == length) {
        *out = diagonals[2 * length % 3][length];
    }
}

extern "C" __global__ void transpose_padded(const float* in, float* out, unsigned side) {
    __shared__ float tile[32][33];
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (unsigned k = 0; k < 32; k += 8) {
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * side + x];
    }
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (unsigned k = 0; k < 32; k += 8) {
        out[(y + k) * side + x] = tile[threadIdx.x][threadIdx.y + k];
    }
}

extern "C" __global__ void matmul_double(const double* a, const double* b, double* c, unsigned side) {
    __shared__ double left[16][16], right[16][16];
    unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    double sum = 0.0;
    for (unsigned first = 0; first < side; first += 16) {
        left[threadIdx.y][threadIdx.x] = a[y * side + first + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * side + x];
        __syncthreads();
        for (unsigned k = 0; k < 16; ++k) {
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[y * side + x] = sum;
}

extern "C" __global__ void index_64(const float* in, float* out, unsigned long long rows, unsigned long long columns,
                                    unsigned long long pitch) {
    unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned long long i = first; i < rows * columns; i += stride) {
        unsigned long long row = i / columns, column = i % columns;
        out[column * rows + row] = in[row * pitch + column] * 2.0f;
    }
}

extern "C" __global__ void smooth(const float* in, float* out, unsigned n, unsigned rounds) {
    __shared__ float both[2][512];
    unsigned t = threadIdx.x;
    both[0][t] = in[blockIdx.x * n + t];
    for (unsigned round = 0; round < rounds; ++round) {
        __syncthreads();
        const float* from = both[round & 1];
        both[~round & 1][t] = (from[t == 0 ? n - 1 : t - 1] + from[t] + from[t + 1 == n ? 0 : t + 1]) * (1.0f / 3.0f);
    }
    out[blockIdx.x * n + t] = both[rounds & 1][t];
}
