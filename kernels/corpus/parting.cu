// Kernels whose lanes part: recursion, calls by pointer, searches with a stack, loops of different lengths.
//
// quicksort(const u32* in, u32* out, u32 length, u32 n)
//   One thread for each of n rows of `length` words: copies row i of `in` to `out` and sorts it there, recursively.
//   Any 1-D geometry that has n threads.
// tree_sum(const i32* kids, const u32* values, const u32* roots, u32* out, u32 n)
//   kids: two nodes for each node, -1 for none. out[i] receives the sum of all values below roots[i], each times its
//   depth from there, recursively. Any 1-D geometry that has n threads.
// dispatch(const u32* in, u32* out, u32 rounds, u32 n)
//   out[i] receives in[i] after `rounds` calls through a table of eight functions, chosen by three bits of the word.
//   Any 1-D geometry that has n threads.
// queens(u32* out, u32 side, u32 n)
//   One thread for each of n = side * side places of the first two queens: out[i] receives the number of solutions with
//   these, found with a stack in local memory. side is at most 16.
// bfs(const u32* starts, const u32* targets, u32* depths, u32* queue, u32 source, u32 n)
//   One block of any size. depths[v] receives the number of edges from `source` to each of n vertices of a graph in
//   compressed rows, 0xffffffff for none; queue has room for n vertices.
// collatz(u32* out, u32 first, u32 n)
//   out[i] receives the number of steps from first + i to 1. Any 1-D geometry that has n threads.
// pick(const u32* in, u32* out, u32 n)
//   out[i] receives in[i], changed if it is odd, and nothing for three quarters of the threads, which return early.

__device__ __noinline__ void sort_range(unsigned* words, int low, int high) {
    if (low >= high) {
        return;
    }
    unsigned pivot = words[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (words[i] < pivot) {
            ++i;
        }
        while (words[j] > pivot) {
            --j;
        }
        if (i <= j) {
            unsigned word = words[i];
            words[i++] = words[j];
            words[j--] = word;
        }
    }
    sort_range(words, low, j);
    sort_range(words, i, high);
}

extern "C" __global__ void quicksort(const unsigned* in, unsigned* out, unsigned length, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned* row = out + i * length;
        for (unsigned k = 0; k < length; ++k) {
            row[k] = in[i * length + k];
        }
        sort_range(row, 0, (int)length - 1);
    }
}

__device__ __noinline__ unsigned sum_below(const int2* kids, const unsigned* values, int node, unsigned depth) {
    if (node < 0) {
        return 0;
    }
    int2 two = kids[node];
    unsigned left = sum_below(kids, values, two.x, depth + 1);
    unsigned right = sum_below(kids, values, two.y, depth + 1);
    return values[node] * depth + left + right;
}

extern "C" __global__ void tree_sum(const int2* kids, const unsigned* values, const unsigned* roots, unsigned* out,
                                    unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = sum_below(kids, values, (int)roots[i], 1);
    }
}

typedef unsigned (*Step)(unsigned, unsigned);

__device__ __noinline__ unsigned step_add(unsigned x, unsigned y) { return x * 5 + y; }
__device__ __noinline__ unsigned step_xor(unsigned x, unsigned y) { return x ^ (y << 7) ^ (x >> 9); }
__device__ __noinline__ unsigned step_multiply(unsigned x, unsigned y) { return x * 1664525u + (y | 1); }
__device__ __noinline__ unsigned step_rotate(unsigned x, unsigned y) { return (x << 11 | x >> 21) + y; }
__device__ __noinline__ unsigned step_least(unsigned x, unsigned y) { return x < y * 77777u ? x + 3 : x - y; }
__device__ __noinline__ unsigned step_count(unsigned x, unsigned y) { return __popc(x) * 0x9e3779b9u + y; }
__device__ __noinline__ unsigned step_divide(unsigned x, unsigned y) { return x / (y + 3) + 0x7f4a7c15u; }
__device__ __noinline__ unsigned step_negate(unsigned x, unsigned y) { return ~x - (y << 16); }

__device__ Step steps[8] = {step_add,   step_xor,   step_multiply, step_rotate,
                            step_least, step_count, step_divide,   step_negate};

extern "C" __global__ void dispatch(const unsigned* in, unsigned* out, unsigned rounds, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned x = in[i];
        for (unsigned round = 0; round < rounds; ++round) {
            x = steps[x >> 5 & 7](x, round);
        }
        out[i] = x;
    }
}

extern "C" __global__ void queens(unsigned* out, unsigned side, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    // For each row: the columns and diagonals that are attacked, and the columns still to be tried.
    unsigned columns[17], left[17], right[17], open[17];
    unsigned all = (1u << side) - 1, first = 1u << i / side, second = 1u << i % side, count = 0;
    columns[1] = first;
    left[1] = first << 1;
    right[1] = first >> 1;
    if (!((columns[1] | left[1] | right[1]) & second)) {
        int row = 2;
        columns[2] = first | second;
        left[2] = (left[1] | second) << 1;
        right[2] = (right[1] | second) >> 1;
        open[2] = all & ~(columns[2] | left[2] | right[2]);
        while (row >= 2) {
            unsigned places = open[row];
            if (places == 0) {
                --row;
                continue;
            }
            unsigned place = places & -places;
            open[row] = places ^ place;
            if (row + 1 == (int)side) {
                ++count;
                continue;
            }
            columns[row + 1] = columns[row] | place;
            left[row + 1] = (left[row] | place) << 1;
            right[row + 1] = (right[row] | place) >> 1;
            ++row;
            open[row] = all & ~(columns[row] | left[row] | right[row]);
        }
    }
    out[i] = count;
}

extern "C" __global__ void bfs(const unsigned* starts, const unsigned* targets, unsigned* depths, unsigned* queue,
                               unsigned source, unsigned n) {
    __shared__ unsigned first, last, found;
    for (unsigned v = threadIdx.x; v < n; v += blockDim.x) {
        depths[v] = v == source ? 0 : 0xffffffff;
    }
    if (threadIdx.x == 0) {
        queue[0] = source;
        first = 0;
        last = 1;
        found = 1;
    }
    __syncthreads();
    for (unsigned depth = 1; first < last; ++depth) {
        for (unsigned at = first + threadIdx.x; at < last; at += blockDim.x) {
            unsigned v = queue[at];
            for (unsigned edge = starts[v]; edge < starts[v + 1]; ++edge) {
                unsigned target = targets[edge];
                if (atomicCAS(&depths[target], 0xffffffff, depth) == 0xffffffff) {
                    queue[atomicAdd(&found, 1u)] = target;
                }
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            first = last;
            last = found;
        }
        __syncthreads();
    }
}

extern "C" __global__ void collatz(unsigned* out, unsigned first, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned long long x = first + i;
        unsigned steps = 0;
        while (x != 1) {
            x = x & 1 ? 3 * x + 1 : x >> 1;
            ++steps;
        }
        out[i] = steps;
    }
}

extern "C" __global__ void pick(const unsigned* in, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned word = in[i];
    if (word & 12) {
        return;
    }
    if (word & 1) {
        word = word * 69069u + 1;
    }
    out[i] = word;
}
