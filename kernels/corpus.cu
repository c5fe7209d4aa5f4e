// Kernels that meet the costly paths of a software device: atomics, arrays per thread, bytes, votes, wide blocks.
//
// count_global(const u32* in, u32* bins, u32 n)
//   Adds one to bins[in[i] % 64] for each of n words, in global memory. Any 1-D geometry (grid-stride).
// count_shared(const u32* in, u32* bins, u32 n)
//   The same into 64 counters of the block, which are then added to bins. Any 1-D geometry (grid-stride).
// digest(const u32* in, u32* out, u32 n)
//   One thread for each of n messages of 16 words, message i at in + 16 * i: expands it to 64 words in an array of its
//   own and mixes them in 64 rounds; out[8 * i ..] receives eight words. Any 1-D geometry.
// machine(const u32* program, u32* out, u32 length, u32 steps, u32 n)
//   One thread for each of n runs of a stack machine with opcodes of 8 bits, packed four to a word, over `length` of them
//   again and again, `steps` in all. out[i] receives the top of the stack. Any 1-D geometry.
// matmul_int(const i32* a, const i32* b, i32* c, u32 n)
//   c = a * b for square matrices of side n, wrapping. A thread for each element, 2-D geometry, x for columns.
// search(const u8* text, const u8* pattern, u32* out, u32 n, u32 m)
//   out[i] receives how many of the m bytes of the pattern agree with text[i ..] until the first that does not, for i
//   below n; the text has n + m bytes. Any 1-D geometry.
// compact(const u32* in, u32* out, u32* count, u32 n)
//   Adds the number of odd words among n to *count, and writes them to out in any order, from the old *count on and
//   around its end: one atomic for each warp, ranks by ballot. n is a power of two, and a multiple of the block, which is
//   a multiple of 32; one thread for each word.
// relax(const u32* in, u32* out, u32 rounds)
//   One block of 1024 threads for each 1024 words: `rounds` times, each becomes the least of itself, its left and its
//   right neighbor plus one, with two barriers each.

extern "C" __global__ void count_global(const unsigned* in, unsigned* bins, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[in[i] % 64], 1u);
    }
}

extern "C" __global__ void count_shared(const unsigned* in, unsigned* bins, unsigned n) {
    __shared__ unsigned own[64];
    if (threadIdx.x < 64) {
        own[threadIdx.x] = 0;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[in[i] % 64], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
    }
}

__device__ unsigned rotate(unsigned x, unsigned by) {
    return x >> by | x << (32 - by);
}

extern "C" __global__ void digest(const unsigned* in, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned w[64];
    unsigned s[8];
#pragma unroll 1
    for (unsigned t = 0; t < 16; ++t) {
        w[t] = in[16 * i + t];
    }
#pragma unroll 1
    for (unsigned t = 16; t < 64; ++t) {
        unsigned a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + w[t - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
        s[k] = 0x9e3779b9u * (k + 1);
    }
#pragma unroll 1
    for (unsigned t = 0; t < 64; ++t) {
        unsigned e = s[4], a = s[0];
        unsigned up = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + w[t] + t;
        unsigned down = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6];
        s[6] = s[5];
        s[5] = e;
        s[4] = s[3] + up;
        s[3] = s[2];
        s[2] = s[1];
        s[1] = a;
        s[0] = up + down;
    }
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
        out[8 * i + k] = s[k];
    }
}

extern "C" __global__ void machine(const unsigned* program, unsigned* out, unsigned length, unsigned steps, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const unsigned char* code = (const unsigned char*)program;
    unsigned stack[16];
    unsigned depth = 1, at = i % length;
#pragma unroll 1
    for (unsigned k = 0; k < 16; ++k) {
        stack[k] = i + k;
    }
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
        unsigned char opcode = code[at];
        at = at + 1 == length ? 0 : at + 1;
        unsigned top = stack[depth & 15], next = stack[(depth - 1) & 15];
        if (opcode < 64) {
            ++depth;
            top = opcode * step;
        } else if (opcode == 64) {
            --depth;
            top = top + next;
        } else if (opcode == 65) {
            --depth;
            top = top ^ next;
        } else if (opcode == 66) {
            top = top * 1664525u + 1013904223u;
        } else if (opcode == 67) {
            stack[(depth - 1) & 15] = top;
            top = next;
        } else {
            top = rotate(top, opcode & 31);
        }
        stack[depth & 15] = top;
    }
    out[i] = stack[depth & 15];
}

extern "C" __global__ void matmul_int(const int* a, const int* b, int* c, unsigned n) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < n && row < n) {
        int sum = 0;
        for (unsigned k = 0; k < n; ++k) {
            sum += a[row * n + k] * b[k * n + column];
        }
        c[row * n + column] = sum;
    }
}

extern "C" __global__ void search(const unsigned char* text, const unsigned char* pattern, unsigned* out, unsigned n, unsigned m) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned k = 0;
        while (k < m && text[i + k] == pattern[k]) {
            ++k;
        }
        out[i] = k;
    }
}

extern "C" __global__ void compact(const unsigned* in, unsigned* out, unsigned* count, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32;
    unsigned word = in[i];
    unsigned odd = __ballot_sync(0xffffffff, word & 1);
    unsigned first = 0;
    if (lane == 0) {
        first = atomicAdd(count, __popc(odd));
    }
    first = __shfl_sync(0xffffffff, first, 0);
    if (word & 1) {
        out[(first + __popc(odd & ((1u << lane) - 1))) & (n - 1)] = word;
    }
}

extern "C" __global__ void relax(const unsigned* in, unsigned* out, unsigned rounds) {
    __shared__ unsigned own[1024];
    unsigned t = threadIdx.x, i = blockIdx.x * 1024 + t;
    own[t] = in[i];
    __syncthreads();
    for (unsigned round = 0; round < rounds; ++round) {
        unsigned least = min(own[t], min(own[t == 0 ? 0 : t - 1], own[t == 1023 ? 1023 : t + 1]) + 1);
        __syncthreads();
        own[t] = least;
        __syncthreads();
    }
    out[i] = own[t];
}
