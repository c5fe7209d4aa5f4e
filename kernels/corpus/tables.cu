// Kernels of tables and bytes: atomics, hashes, checksums, strings, vectors gathered and scattered.
//
// histogram_private(const u8* in, u32* bins, u32 n)
//   Counts n bytes in 64 bins (byte / 4). Each warp of a block of 256 counts in a part of shared memory of its own; the
//   parts are added to bins. Any 1-D grid (grid-stride).
// add_doubles(const double* in, double* sums, u32 n)
//   Adds in[i] to sums[i % 32] by compare-and-swap. Any 1-D geometry with n threads.
// count_keys(const u32* keys, u32* table, u32* out, u32 n, u32 size)
//   One block. out[i] receives how often the key keys[i], which is not zero, occurs: all are inserted in a table of `size`
//   (a power of two) pairs of key and count by compare-and-swap with linear probing, then found.
// unite(const u32* edges, u32* parents, u32 n, u32 m)
//   One block. parents[v] receives the least vertex connected with v, of n vertices and m edges: union by the smaller
//   root with compare-and-swap, paths halved.
// crc(const u8* in, u32* out, u32 length, u32 n)
//   out[i] receives the CRC-32 of row i of `length` bytes, by a table of 256 words that each block makes in shared memory.
//   Any 1-D geometry with n threads.
// find_all(const u8* text, const u8* word, u32* out, u32 n, u32 m)
//   out[i] receives 1 if the text has the word of m bytes at place i, by the checksum of a sliding window: each thread does
//   16 places. The text has n + m bytes.
// unpack(const u8* in, const u32* starts, u8* out, u32 length, u32 n)
//   Decodes n rows to `length` bytes each. A code byte below 128 is followed by that many plus one plain bytes; one from 128
//   on copies its low seven bits plus four bytes from as many bytes back as the next byte says. n threads.
// mix_digest(const u32* in, u32* out, u32 n)
//   One thread for each of n messages of 16 words: 20 double rounds of additions, rotations and exclusive ors over 16
//   words in registers. out[16 * i ..] receives the sum of both.
// gather4(const float4* in, const u32* places, float4* out, u32 n)
//   out[places[i]] = in[i] * 2 + in[places[i]], vectors of four. n threads.
// sum_by_key(const u32* keys, const u32* values, u32* sums, u32 n)
//   Adds values[i] to sums[keys[i] % 256], one atomic for each group of lanes of a warp with the same key. n threads.

extern "C" __global__ void histogram_private(const unsigned char* in, unsigned* bins, unsigned n) {
    __shared__ unsigned parts[8][64];
    unsigned t = threadIdx.x;
    for (unsigned k = t; k < 8 * 64; k += 256) {
        parts[k / 64][k % 64] = 0;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) {
        atomicAdd(&parts[t / 32][in[i] / 4], 1u);
    }
    __syncthreads();
    if (t < 64) {
        unsigned sum = 0;
        for (unsigned part = 0; part < 8; ++part) {
            sum += parts[part][t];
        }
        atomicAdd(&bins[t], sum);
    }
}

extern "C" __global__ void add_doubles(const double* in, double* sums, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned long long* sum = (unsigned long long*)&sums[i % 32];
        unsigned long long seen = *sum, old;
        do {
            old = seen;
            seen = atomicCAS(sum, old, __double_as_longlong(__longlong_as_double(old) + in[i]));
        } while (seen != old);
    }
}

__device__ unsigned slot_of(unsigned key) {
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    return key ^ key >> 13;
}

extern "C" __global__ void count_keys(const unsigned* keys, uint2* table, unsigned* out, unsigned n, unsigned size) {
    for (unsigned k = threadIdx.x; k < size; k += blockDim.x) {
        table[k] = make_uint2(0, 0);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned key = keys[i];
        for (unsigned slot = slot_of(key) & (size - 1);; slot = (slot + 1) & (size - 1)) {
            unsigned found = atomicCAS(&table[slot].x, 0u, key);
            if (found == 0 || found == key) {
                atomicAdd(&table[slot].y, 1u);
                break;
            }
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned slot = slot_of(keys[i]) & (size - 1);
        while (table[slot].x != keys[i]) {
            slot = (slot + 1) & (size - 1);
        }
        out[i] = table[slot].y;
    }
}

__device__ unsigned root_of(volatile unsigned* parents, unsigned v) {
    unsigned parent = parents[v];
    while (parent != v) {
        unsigned next = parents[parent];
        parents[v] = next;
        v = parent;
        parent = next;
    }
    return v;
}

extern "C" __global__ void unite(const uint2* edges, unsigned* parents, unsigned n, unsigned m) {
    for (unsigned v = threadIdx.x; v < n; v += blockDim.x) {
        parents[v] = v;
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < m; e += blockDim.x) {
        uint2 edge = edges[e];
        unsigned a = root_of(parents, edge.x), b = root_of(parents, edge.y);
        while (a != b) {
            unsigned high = max(a, b), low = min(a, b);
            if (atomicCAS(&parents[high], high, low) == high) {
                break;
            }
            a = root_of(parents, high);
            b = root_of(parents, low);
        }
    }
    __syncthreads();
    for (unsigned v = threadIdx.x; v < n; v += blockDim.x) {
        unsigned root = v;
        while (parents[root] != root) {
            root = parents[root];
        }
        // Parents of others are read until here, but any value on the way leads to the same root.
        parents[v] = root;
    }
}

extern "C" __global__ void crc(const unsigned char* in, unsigned* out, unsigned length, unsigned n) {
    __shared__ unsigned table[256];
    for (unsigned k = threadIdx.x; k < 256; k += blockDim.x) {
        unsigned word = k;
        for (unsigned bit = 0; bit < 8; ++bit) {
            word = word & 1 ? word >> 1 ^ 0xedb88320u : word >> 1;
        }
        table[k] = word;
    }
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned sum = 0xffffffffu;
        for (unsigned k = 0; k < length; ++k) {
            sum = sum >> 8 ^ table[(sum ^ in[i * length + k]) & 255];
        }
        out[i] = ~sum;
    }
}

extern "C" __global__ void find_all(const unsigned char* text, const unsigned char* word, unsigned* out, unsigned n,
                                    unsigned m) {
    unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    if (first >= n) {
        return;
    }
    unsigned wanted = 0, sum = 0, power = 1;
    for (unsigned k = 0; k < m; ++k) {
        wanted = wanted * 31 + word[k];
        sum = sum * 31 + text[first + k];
        power *= 31;
    }
    for (unsigned i = first; i < first + 16 && i < n; ++i) {
        unsigned found = 0;
        if (sum == wanted) {
            unsigned k = 0;
            while (k < m && text[i + k] == word[k]) {
                ++k;
            }
            found = k == m;
        }
        out[i] = found;
        sum = sum * 31 + text[i + m] - power * text[i];
    }
}

extern "C" __global__ void unpack(const unsigned char* in, const unsigned* starts, unsigned char* out, unsigned length,
                                  unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const unsigned char* code = in + starts[i];
    unsigned char* row = out + i * length;
    unsigned at = 0;
    while (at < length) {
        unsigned first = *code++;
        if (first < 128) {
            for (unsigned k = 0; k <= first; ++k) {
                row[at++] = *code++;
            }
        } else {
            unsigned back = *code++;
            for (unsigned k = 0; k < (first & 127) + 4; ++k, ++at) {
                row[at] = row[at - back];
            }
        }
    }
}

#define QUARTER(A, B, C, D)              \
    A += B; D ^= A; D = D << 16 | D >> 16; \
    C += D; B ^= C; B = B << 12 | B >> 20; \
    A += B; D ^= A; D = D << 8 | D >> 24;  \
    C += D; B ^= C; B = B << 7 | B >> 25

extern "C" __global__ void mix_digest(const unsigned* in, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned x[16];
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) {
        x[k] = in[16 * i + k];
    }
    for (unsigned round = 0; round < 20; ++round) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) {
        out[16 * i + k] = x[k] + in[16 * i + k];
    }
}

extern "C" __global__ void gather4(const float4* in, const unsigned* places, float4* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned place = places[i];
        float4 a = in[i], b = in[place];
        out[place] = make_float4(a.x * 2 + b.x, a.y * 2 + b.y, a.z * 2 + b.z, a.w * 2 + b.w);
    }
}

extern "C" __global__ void sum_by_key(const unsigned* keys, const unsigned* values, unsigned* sums, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool inside = i < n;
    unsigned key = inside ? keys[i] % 256 : 256, value = inside ? values[i] : 0;
    unsigned same = __match_any_sync(0xffffffffu, key), sum = 0;
    for (unsigned rest = same; rest; rest &= rest - 1) {
        sum += __shfl_sync(same, value, __ffs(rest) - 1);
    }
    if (inside && lane == __ffs(same) - 1) {
        atomicAdd(&sums[key], sum);
    }
}
