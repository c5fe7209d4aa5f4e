// Kernels with a planted bug that need not fault, each beside its corrected twin (suffix _fixed).
// For the emulator's checks and for compute-sanitizer. Compiled with line information.
// nvrtc: -lineinfo
//
// race_shared, race_shared_fixed (const u32* in, u32* out)
//   block of exactly 64, in and out: 64 elements per block; the bug is a missing barrier. 256 bytes of shared memory.
// race_global, race_global_fixed (u32* counter)
//   any geometry with more than one block; plain against atomic increment of one element.
// uninitialized_global, uninitialized_global_fixed (const u32* in, u32* out, u32 n)
//   any geometry covering n; the bug reads in[n], which the caller allocates (n + 1 elements) but never writes.
// uninitialized_shared, uninitialized_shared_fixed (u32* out)
//   block of exactly 64, out: 64 elements per block; the bug reads what only even threads wrote. 256 bytes.
// divergent_barrier, divergent_barrier_fixed (u32* out)
//   block of exactly 64, out: 64 elements per block; the bug skips a barrier in the odd half of a warp. 256 bytes.
// off_by_one, off_by_one_fixed (float* out, u32 n)
//   at least n + 1 threads, out: n elements; the bug compares with <= and writes out[n].
// shared_overflow, shared_overflow_fixed (u32* out, u32 shift)
//   block of exactly 64, out: 64 elements per block, shift 1; the bug lets the last thread write past the 256 bytes.
// uninitialized_local, uninitialized_local_fixed (u32* out, u32 n)
//   block of exactly 64, out: 64 elements per block, n from 1 to 63; the bug fills n of 64 local elements, then reads all.
// race_warp, race_warp_fixed (u32* out)
//   block of exactly 64, out: 64 elements per block; read after write within a warp, without __syncwarp. 256 bytes.
// race_war, race_war_fixed (u32* out)
//   the same geometry; write after read across warps, without a barrier. 256 bytes.
// race_waw, race_waw_fixed (u32* out)
//   the same geometry; both warps write the same 32 elements. 256 bytes.
// race_same_store, race_same_store_fixed (u32* out)
//   the same geometry; two lanes write different values to one element with the same instruction. 256 bytes.
// race_message, race_message_fixed (u32* data, u32* flag, u32* out)
//   at least two blocks, which must be resident together, 1 element each, flag zeroed; block 0 sends data[0] to block 1
//   by way of flag[0]; the bug lacks the fence before the flag.
// race_last_block, race_last_block_fixed (const u32* in, u32* partial, u32* count, u32* out)
//   any geometry, in: one element per thread, partial: one per block, count and out: 1, partial and count zeroed; the last
//   block to finish adds up what the others left; the bug lacks the fence before the ticket.
// race_lock, race_lock_fixed (u32* lock, u32* counter)
//   any geometry, 1 element each, lock zeroed; thread 0 of each block increments a counter under a spin lock; the bug
//   unlocks without a fence.
// race_grid, race_grid_fixed (u32* values, u32* arrived, u32* out)
//   cooperative or all blocks resident, two threads or more a block; values and out: one element a block, arrived: 1,
//   zeroed; each block reads what its neighbor wrote; the bug lacks the barrier of the grid.
// exited_barrier, exited_barrier_fixed (u32* out, u32 n)
//   block of exactly 64, out: 64 elements per block, n below 64; threads from n on return before the barrier. 256 bytes.
// wrong_mask, wrong_mask_fixed (u32* out)
//   block of exactly 64, out: 64 elements per block; the bug names 16 lanes where 32 shuffle.
// inactive_shuffle, inactive_shuffle_fixed (u32* out)
//   the same geometry; lanes 0 to 15 shuffle, and the bug makes lane 15 read from lane 16.

#define BLOCK 64

extern "C" __global__ void race_shared(const unsigned* in, unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    unsigned base = blockIdx.x * BLOCK;
    scratch[threadIdx.x] = in[base + threadIdx.x];
    out[base + threadIdx.x] = scratch[BLOCK - 1 - threadIdx.x];
}

extern "C" __global__ void race_shared_fixed(const unsigned* in, unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    unsigned base = blockIdx.x * BLOCK;
    scratch[threadIdx.x] = in[base + threadIdx.x];
    __syncthreads();
    out[base + threadIdx.x] = scratch[BLOCK - 1 - threadIdx.x];
}

extern "C" __global__ void race_global(unsigned* counter) {
    counter[0] += 1;
}

extern "C" __global__ void race_global_fixed(unsigned* counter) {
    atomicAdd(counter, 1u);
}

extern "C" __global__ void uninitialized_global(const unsigned* in, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i + 1];
    }
}

extern "C" __global__ void uninitialized_global_fixed(const unsigned* in, unsigned* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i];
    }
}

extern "C" __global__ void uninitialized_shared(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    if (threadIdx.x % 2 == 0) {
        scratch[threadIdx.x] = threadIdx.x;
    }
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x];
}

extern "C" __global__ void uninitialized_shared_fixed(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x];
}

extern "C" __global__ void divergent_barrier(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x];
}

extern "C" __global__ void divergent_barrier_fixed(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x];
}

extern "C" __global__ void off_by_one(float* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        out[i] = 1.0f;
    }
}

extern "C" __global__ void off_by_one_fixed(float* out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 1.0f;
    }
}

extern "C" __global__ void shared_overflow(unsigned* out, unsigned shift) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x + shift] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[BLOCK - 1];
}

extern "C" __global__ void shared_overflow_fixed(unsigned* out, unsigned shift) {
    __shared__ unsigned scratch[BLOCK];
    scratch[(threadIdx.x + shift) % BLOCK] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[BLOCK - 1];
}

extern "C" __global__ void uninitialized_local(unsigned* out, unsigned n) {
    unsigned frame[BLOCK];
    for (unsigned i = 0; i < n; ++i) {
        frame[i] = i * n;
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = frame[threadIdx.x];
}

extern "C" __global__ void uninitialized_local_fixed(unsigned* out, unsigned n) {
    unsigned frame[BLOCK];
    for (unsigned i = 0; i < BLOCK; ++i) {
        frame[i] = i * n;
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = frame[threadIdx.x];
}

extern "C" __global__ void race_warp(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x ^ 1];
}

extern "C" __global__ void race_warp_fixed(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x ^ 1];
}

extern "C" __global__ void race_war(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    unsigned other = scratch[threadIdx.x ^ 32];
    scratch[threadIdx.x] = other + 1;
    out[blockIdx.x * BLOCK + threadIdx.x] = other;
}

extern "C" __global__ void race_war_fixed(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    unsigned other = scratch[threadIdx.x ^ 32];
    __syncthreads();
    scratch[threadIdx.x] = other + 1;
    out[blockIdx.x * BLOCK + threadIdx.x] = other;
}

extern "C" __global__ void race_waw(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x % 32] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x % 32];
}

extern "C" __global__ void race_waw_fixed(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x % 32];
}

extern "C" __global__ void race_same_store(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x / 2] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x / 2];
}

extern "C" __global__ void race_same_store_fixed(unsigned* out) {
    __shared__ unsigned scratch[BLOCK];
    // The same value from every thread that writes: which of them wins makes no difference.
    scratch[threadIdx.x / 2] = threadIdx.x / 2;
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[threadIdx.x / 2];
}

extern "C" __global__ void race_message(unsigned* data, volatile unsigned* flag, unsigned* out) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        data[0] = 42;
        flag[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flag[0] == 0) {
        }
        __threadfence();
        out[0] = data[0];
    }
}

extern "C" __global__ void race_message_fixed(unsigned* data, volatile unsigned* flag, unsigned* out) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        flag[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flag[0] == 0) {
        }
        __threadfence();
        out[0] = data[0];
    }
}

extern "C" __global__ void race_last_block(const unsigned* in, unsigned* partial, unsigned* count, unsigned* out) {
    __shared__ bool last;
    atomicAdd(&partial[blockIdx.x], in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] *= 2;
        last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) {
            sum += partial[i];
        }
        out[0] = sum;
        count[0] = 0;
    }
}

extern "C" __global__ void race_last_block_fixed(const unsigned* in, unsigned* partial, unsigned* count,
                                                 unsigned* out) {
    __shared__ bool last;
    atomicAdd(&partial[blockIdx.x], in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] *= 2;
        __threadfence();
        last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) {
            sum += partial[i];
        }
        out[0] = sum;
        count[0] = 0;
    }
}

extern "C" __global__ void race_lock(unsigned* lock, unsigned* counter) {
    if (threadIdx.x != 0) {
        return;
    }
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    counter[0] += 1;
    atomicExch(lock, 0);
}

extern "C" __global__ void race_lock_fixed(unsigned* lock, unsigned* counter) {
    if (threadIdx.x != 0) {
        return;
    }
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    counter[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void race_grid(unsigned* values, unsigned* arrived, unsigned* out) {
    if (threadIdx.x == 0) {
        values[blockIdx.x] = blockIdx.x;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[blockIdx.x] = values[(blockIdx.x + 1) % gridDim.x];
    }
}

extern "C" __global__ void race_grid_fixed(unsigned* values, unsigned* arrived, unsigned* out) {
    if (threadIdx.x == 0) {
        values[blockIdx.x] = blockIdx.x;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned*)arrived < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 1) {
        out[blockIdx.x] = values[(blockIdx.x + 1) % gridDim.x];
    }
}

extern "C" __global__ void exited_barrier(unsigned* out, unsigned n) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= n) {
        return;
    }
    __syncthreads();
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[BLOCK - 1 - threadIdx.x];
}

extern "C" __global__ void exited_barrier_fixed(unsigned* out, unsigned n) {
    __shared__ unsigned scratch[BLOCK];
    scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x >= n) {
        return;
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = scratch[BLOCK - 1 - threadIdx.x];
}

extern "C" __global__ void wrong_mask(unsigned* out) {
    out[blockIdx.x * BLOCK + threadIdx.x] = __shfl_xor_sync(0x0000ffff, threadIdx.x, 1);
}

extern "C" __global__ void wrong_mask_fixed(unsigned* out) {
    out[blockIdx.x * BLOCK + threadIdx.x] = __shfl_xor_sync(0xffffffff, threadIdx.x, 1);
}

extern "C" __global__ void inactive_shuffle(unsigned* out) {
    unsigned value = threadIdx.x;
    if (threadIdx.x % 32 < 16) {
        value = __shfl_down_sync(0x0000ffff, value, 1);
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = value;
}

extern "C" __global__ void inactive_shuffle_fixed(unsigned* out) {
    unsigned value = threadIdx.x;
    if (threadIdx.x % 32 < 16) {
        value = __shfl_down_sync(0x0000ffff, value, 1, 16);
    }
    out[blockIdx.x * BLOCK + threadIdx.x] = value;
}
