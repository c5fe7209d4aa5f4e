// Kernels of arithmetic: random numbers, transcendental functions, half precision, signals, pictures.
// nvrtc: --std=c++17
//
// xorshift(u32* out, u32 rounds, u32 n)
//   out[i] receives the sum of `rounds` random words from a generator seeded with i. Any 1-D geometry with n threads.
// philox(u32* out, u32 key, u32 n)
//   Four random words for each of n counters, ten rounds of a counter-based generator, stored as one vector.
// monte_carlo(u32* out, u32 rounds, u32 n)
//   out[i] receives the number of `rounds` random points inside a quarter of a circle.
// black_scholes(const float* prices, const float* strikes, const float* years, float* out, u32 n)
//   Prices of European options, rate 0.02, volatility 0.3: n calls, then n puts. Any 1-D geometry with n threads. Compare
//   within a tolerance.
// half_product(const u32* a, const u32* b, u32* c, u32 side)
//   c = a * b for square matrices of halves, two columns of b and c in each word, a as pairs of equal halves.
//   side words in each row of a, side / 2 in each row of b and c. 2-D geometry, x for words of a row.
// fft(const float* in, float* out)
//   1-D, blocks of 128: each block transforms 256 complex numbers in shared memory, eight stages with a barrier each.
// spheres(const float* spheres, float* out, u32 side, u32 count)
//   One ray for each pixel through `count` spheres (x, y, z, radius): the number of the nearest that it hits plus half of
//   its shade, or count. 2-D geometry.
// softmax_rows(const float* in, float* out, u32 columns)
//   One block of 128 for each row: shared reductions for the largest and for the sum.
// layer_norm(const float* in, const float* gain, const float* bias, float* out, u32 columns)
//   One warp for each row, blocks of 128: mean and variance by shuffles.
// means_step(const float2* points, const float2* centers, i32* out, u32 n)
//   out[48 + i] receives the number of the nearest of 16 centers. To out[2 * k] and out[2 * k + 1] are added the
//   coordinates of all points nearest to center k, in units of 1 / 1024, and to out[32 + k] their number: by atomics, first
//   in the block. Any 1-D geometry with n threads.
// particles(const Particle* in, Particle* out, u32 n, u32 rounds)
//   out receives n particles, structures of position, velocity, mass and a count, after `rounds` steps, each from and to
//   memory: they turn at the walls of a cube. Any 1-D geometry with n threads.

extern "C" __global__ void xorshift(unsigned* out, unsigned rounds, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned x = i * 2654435769u + 1, sum = 0;
        for (unsigned round = 0; round < rounds; ++round) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            sum += x;
        }
        out[i] = sum;
    }
}

extern "C" __global__ void philox(uint4* out, unsigned key, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint4 c = make_uint4(i, 0, 0x1234567u, 0);
        unsigned low = key, high = ~key;
#pragma unroll
        for (unsigned round = 0; round < 10; ++round) {
            unsigned a = __umulhi(0xd2511f53u, c.x), b = __umulhi(0xcd9e8d57u, c.z);
            c = make_uint4(b ^ c.y ^ low, 0xcd9e8d57u * c.z, a ^ c.w ^ high, 0xd2511f53u * c.x);
            low += 0x9e3779b9u;
            high += 0xbb67ae85u;
        }
        out[i] = c;
    }
}

extern "C" __global__ void monte_carlo(unsigned* out, unsigned rounds, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned long long state = i * 0x9e3779b97f4a7c15ull + 1;
        unsigned hits = 0;
        for (unsigned round = 0; round < rounds; ++round) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            float x = (float)(unsigned)(state >> 40) * (1.0f / 16777216.0f);
            float y = (float)((unsigned)(state >> 16) & 0xffffffu) * (1.0f / 16777216.0f);
            if (x * x + y * y < 1.0f) {
                ++hits;
            }
        }
        out[i] = hits;
    }
}

// The normal distribution, by a polynomial.
__device__ float below(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float series = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.3989422804f * expf(-0.5f * d * d) * series;
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float* prices, const float* strikes, const float* years, float* out,
                                         unsigned n) {
    const float rate = 0.02f, volatility = 0.3f;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float price = prices[i], strike = strikes[i], time = years[i];
        float deviation = volatility * sqrtf(time);
        float d1 = (logf(price / strike) + (rate + 0.5f * volatility * volatility) * time) / deviation;
        float d2 = d1 - deviation;
        float now = strike * expf(-rate * time);
        out[i] = price * below(d1) - now * below(d2);
        out[n + i] = now * below(-d2) - price * below(-d1);
    }
}

__device__ unsigned multiply_add_pair(unsigned a, unsigned b, unsigned c) {
    unsigned d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

extern "C" __global__ void half_product(const unsigned* a, const unsigned* b, unsigned* c, unsigned side) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned width = side / 2;
    if (x < width && y < side) {
        unsigned sum = 0;
        for (unsigned k = 0; k < side; ++k) {
            sum = multiply_add_pair(a[y * side + k], b[k * width + x], sum);
        }
        c[y * width + x] = sum;
    }
}

extern "C" __global__ void fft(const float2* in, float2* out) {
    __shared__ float2 points[256];
    unsigned t = threadIdx.x, first = blockIdx.x * 256;
    points[__brev(t) >> 24] = in[first + t];
    points[__brev(t + 128) >> 24] = in[first + t + 128];
    for (unsigned half = 1; half < 256; half *= 2) {
        __syncthreads();
        unsigned k = t & (half - 1), low = 2 * t - k, high = low + half;
        float sine, cosine;
        sincospif(-(float)k / (float)half, &sine, &cosine);
        float2 a = points[low], b = points[high];
        float re = b.x * cosine - b.y * sine, im = b.x * sine + b.y * cosine;
        points[low] = make_float2(a.x + re, a.y + im);
        points[high] = make_float2(a.x - re, a.y - im);
    }
    __syncthreads();
    out[first + t] = points[t];
    out[first + t + 128] = points[t + 128];
}

extern "C" __global__ void spheres(const float4* spheres, float* out, unsigned side, unsigned count) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side) {
        return;
    }
    float dx = (x + 0.5f) / side - 0.5f, dy = (y + 0.5f) / side - 0.5f, dz = 1.0f;
    float scale = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz);
    dx *= scale;
    dy *= scale;
    dz *= scale;
    float nearest = 1e30f;
    float found = count;
    for (unsigned k = 0; k < count; ++k) {
        float4 s = spheres[k];
        float along = dx * s.x + dy * s.y + dz * s.z;
        float inside = along * along - (s.x * s.x + s.y * s.y + s.z * s.z - s.w * s.w);
        if (inside > 0.0f) {
            float distance = along - sqrtf(inside);
            if (distance > 0.0f && distance < nearest) {
                nearest = distance;
                found = k + 0.5f * fmaxf((s.z - distance * dz) / s.w, 0.0f);
            }
        }
    }
    out[y * side + x] = found;
}

// The same value for all threads of a block of 128.
template <typename Combine>
__device__ float reduce_block(float value, float* shared, Combine combine) {
    unsigned t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (unsigned d = 64; d > 0; d /= 2) {
        if (t < d) {
            shared[t] = combine(shared[t], shared[t + d]);
        }
        __syncthreads();
    }
    float result = shared[0];
    __syncthreads();
    return result;
}

extern "C" __global__ void softmax_rows(const float* in, float* out, unsigned columns) {
    __shared__ float shared[128];
    const float* row = in + blockIdx.x * columns;
    float largest = -1e30f;
    for (unsigned k = threadIdx.x; k < columns; k += 128) {
        largest = fmaxf(largest, row[k]);
    }
    largest = reduce_block(largest, shared, [](float a, float b) { return fmaxf(a, b); });
    float sum = 0.0f;
    for (unsigned k = threadIdx.x; k < columns; k += 128) {
        float power = expf(row[k] - largest);
        out[blockIdx.x * columns + k] = power;
        sum += power;
    }
    sum = 1.0f / reduce_block(sum, shared, [](float a, float b) { return a + b; });
    for (unsigned k = threadIdx.x; k < columns; k += 128) {
        out[blockIdx.x * columns + k] *= sum;
    }
}

__device__ float add_warp(float sum) {
#pragma unroll
    for (unsigned d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    }
    return sum;
}

extern "C" __global__ void layer_norm(const float* in, const float* gain, const float* bias, float* out,
                                      unsigned columns) {
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    in += row * columns;
    float sum = 0.0f;
    for (unsigned k = lane; k < columns; k += 32) {
        sum += in[k];
    }
    float mean = add_warp(sum) / columns, squares = 0.0f;
    for (unsigned k = lane; k < columns; k += 32) {
        float off = in[k] - mean;
        squares += off * off;
    }
    float scale = 1.0f / sqrtf(add_warp(squares) / columns + 1e-5f);
    for (unsigned k = lane; k < columns; k += 32) {
        out[row * columns + k] = (in[k] - mean) * scale * gain[k] + bias[k];
    }
}

extern "C" __global__ void means_step(const float2* points, const float2* centers, int* out, unsigned n) {
    __shared__ float2 own[16];
    __shared__ int sums[48];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (t < 16) {
        own[t] = centers[t];
    }
    if (t < 48) {
        sums[t] = 0;
    }
    __syncthreads();
    if (i < n) {
        float2 point = points[i];
        float least = 1e30f;
        unsigned best = 0;
        for (unsigned k = 0; k < 16; ++k) {
            float dx = point.x - own[k].x, dy = point.y - own[k].y;
            float distance = dx * dx + dy * dy;
            if (distance < least) {
                least = distance;
                best = k;
            }
        }
        out[48 + i] = best;
        atomicAdd(&sums[2 * best], __float2int_rn(point.x * 1024.0f));
        atomicAdd(&sums[2 * best + 1], __float2int_rn(point.y * 1024.0f));
        atomicAdd(&sums[32 + best], 1);
    }
    __syncthreads();
    if (t < 48) {
        atomicAdd(&out[t], sums[t]);
    }
}

struct Particle {
    float place[3];
    float speed[3];
    float mass;
    float turns;
};

extern "C" __global__ void particles(const Particle* in, Particle* out, unsigned n, unsigned rounds) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    out[i] = in[i];
    for (unsigned round = 0; round < rounds; ++round) {
        Particle p = out[i];
        float step = 0.015625f / p.mass;
#pragma unroll
        for (unsigned axis = 0; axis < 3; ++axis) {
            p.place[axis] += p.speed[axis] * step;
            if (fabsf(p.place[axis]) > 1.0f) {
                p.speed[axis] = -p.speed[axis];
                p.turns += 1.0f;
            }
        }
        out[i] = p;
    }
}
