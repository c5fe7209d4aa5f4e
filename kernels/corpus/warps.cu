// Kernels whose warps talk: shuffles, ballots, barriers every few instructions, warps that share a row.
//
// segmented_scan(const u32* in, const u32* heads, u32* out, u32 n)
//   n is a multiple of 32. out[i] receives the sum of in[k ..= i], where k is the last place with an odd word in `heads`,
//   or the first of the 32 that i belongs to. A warp for 32 words, five shuffles; 1-D, a thread for each word.
// block_prefix(const u32* in, u32* out)
//   1-D, blocks of 256: out receives the sums of each block's words up to and including each word, in shared memory,
//   up and down a tree, a barrier after each of its levels.
// warp_prefix(const u32* in, u32* out)
//   The same with shuffles: each warp its 32 words, the first warp the sums of eight, two barriers.
// radix_pass(const u32* in, u32* out, u32 shift)
//   1-D, blocks of 256: each block's words in stable order of four bits from `shift` on; ranks by ballots.
// csr_row(const u32* starts, const u32* columns, const float* values, const float* x, float* y, u32 n)
//   y = A x for a sparse matrix of n rows in compressed rows. A thread for each row, any 1-D geometry with n threads.
// csr_warp(...)
//   The same with a warp for each row: lanes take each 32nd entry, then five shuffles. 32 n threads.
// bitonic(const u32* in, u32* out)
//   1-D, blocks of 256: each block sorts its 512 words in shared memory, a barrier after each step of the network.
// tile_sum(const float* in, float* out, u32 n)
//   Adds n floats in the manner of cooperative groups: tiles of 16 lanes reduce by shuffles, the first tile of the block
//   their sums. out[block] receives one sum for each block of 256. Any 1-D grid (grid-stride).

#define EVERY 0xffffffffu

extern "C" __global__ void segmented_scan(const unsigned* in, const unsigned* heads, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned lane = threadIdx.x & 31, sum = in[i], head = heads[i] & 1;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(EVERY, sum, d);
        unsigned other_head = __shfl_up_sync(EVERY, head, d);
        if (lane >= d && !head) {
            sum += other;
            head = other_head;
        }
    }
    out[i] = sum;
}

extern "C" __global__ void block_prefix(const unsigned* in, unsigned* out) {
    __shared__ unsigned tree[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    unsigned own = in[i];
    tree[t] = own;
    for (unsigned d = 1; d < 256; d *= 2) {
        __syncthreads();
        unsigned right = (t + 1) * 2 * d - 1;
        if (right < 256) {
            tree[right] += tree[right - d];
        }
    }
    if (t == 0) {
        tree[255] = 0;
    }
    for (unsigned d = 128; d > 0; d /= 2) {
        __syncthreads();
        unsigned right = (t + 1) * 2 * d - 1;
        if (right < 256) {
            unsigned left = tree[right - d];
            tree[right - d] = tree[right];
            tree[right] += left;
        }
    }
    __syncthreads();
    out[i] = tree[t] + own;
}

__device__ unsigned scan_warp(unsigned sum, unsigned lane) {
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(EVERY, sum, d);
        sum += lane >= d ? other : 0;
    }
    return sum;
}

extern "C" __global__ void warp_prefix(const unsigned* in, unsigned* out) {
    __shared__ unsigned sums[8];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t & 31, warp = t >> 5;
    unsigned sum = scan_warp(in[i], lane);
    if (lane == 31) {
        sums[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        unsigned all = scan_warp(lane < 8 ? sums[lane] : 0, lane);
        if (lane < 8) {
            sums[lane] = all;
        }
    }
    __syncthreads();
    out[i] = sum + (warp == 0 ? 0 : sums[warp - 1]);
}

extern "C" __global__ void radix_pass(const unsigned* in, unsigned* out, unsigned shift) {
    __shared__ unsigned counts[16 * 8];
    unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned word = in[blockIdx.x * 256 + t], digit = word >> shift & 15;
    if (t < 128) {
        counts[t] = 0;
    }
    unsigned same = EVERY;
#pragma unroll
    for (unsigned bit = 0; bit < 4; ++bit) {
        unsigned set = __ballot_sync(EVERY, digit >> bit & 1);
        same &= digit >> bit & 1 ? set : ~set;
    }
    unsigned rank = __popc(same & ((1u << lane) - 1));
    __syncthreads();
    if (rank == 0) {
        counts[digit * 8 + warp] = __popc(same);
    }
    __syncthreads();
    // The first warp turns the counts into places, four for each lane.
    if (warp == 0) {
        unsigned four[4], own = 0;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            four[k] = counts[lane * 4 + k];
            own += four[k];
        }
        unsigned before = scan_warp(own, lane) - own;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            counts[lane * 4 + k] = before;
            before += four[k];
        }
    }
    __syncthreads();
    out[blockIdx.x * 256 + counts[digit * 8 + warp] + rank] = word;
}

extern "C" __global__ void csr_row(const unsigned* starts, const unsigned* columns, const float* values, const float* x,
                                   float* y, unsigned n) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float sum = 0.0f;
        for (unsigned at = starts[row]; at < starts[row + 1]; ++at) {
            sum += values[at] * x[columns[at]];
        }
        y[row] = sum;
    }
}

extern "C" __global__ void csr_warp(const unsigned* starts, const unsigned* columns, const float* values,
                                    const float* x, float* y, unsigned n) {
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row < n) {
        float sum = 0.0f;
        for (unsigned at = starts[row] + lane; at < starts[row + 1]; at += 32) {
            sum += values[at] * x[columns[at]];
        }
#pragma unroll
        for (unsigned d = 16; d > 0; d /= 2) {
            sum += __shfl_down_sync(EVERY, sum, d);
        }
        if (lane == 0) {
            y[row] = sum;
        }
    }
}

extern "C" __global__ void bitonic(const unsigned* in, unsigned* out) {
    __shared__ unsigned words[512];
    unsigned t = threadIdx.x, first = blockIdx.x * 512;
    words[t] = in[first + t];
    words[t + 256] = in[first + t + 256];
    for (unsigned size = 2; size <= 512; size *= 2) {
        for (unsigned d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            unsigned low = 2 * t - (t & (d - 1)), high = low + d;
            unsigned a = words[low], b = words[high];
            if ((a > b) == ((low & size) == 0)) {
                words[low] = b;
                words[high] = a;
            }
        }
    }
    __syncthreads();
    out[first + t] = words[t];
    out[first + t + 256] = words[t + 256];
}

template <unsigned SIZE>
struct Tile {
    unsigned rank;

    __device__ Tile() : rank(threadIdx.x % SIZE) {}

    template <typename T>
    __device__ T reduce(T sum) const {
        for (unsigned d = SIZE / 2; d > 0; d /= 2) {
            sum += __shfl_xor_sync(EVERY, sum, d, SIZE);
        }
        return sum;
    }
};

extern "C" __global__ void tile_sum(const float* in, float* out, unsigned n) {
    __shared__ float sums[16];
    Tile<16> tile;
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    sum = tile.reduce(sum);
    if (tile.rank == 0) {
        sums[threadIdx.x / 16] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = tile.reduce(sums[tile.rank]);
        if (threadIdx.x == 0) {
            out[blockIdx.x] = sum;
        }
    }
}
