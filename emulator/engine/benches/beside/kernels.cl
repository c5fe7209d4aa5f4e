// The kernels of kernels/*.cu in OpenCL C, operation by operation, launched in the same shapes. OpenCL has no shuffles
// without sub-groups, which Debian's PoCL lacks, so reduce_shuffle is missing.

#pragma OPENCL FP_CONTRACT OFF

kernel void saxpy(uint n, float alpha, global const float* x, global float* y) {
    uint i = get_global_id(0);
    if (i < n) {
        y[i] = fma(alpha, x[i], y[i]);
    }
}

kernel void saxpy_grid_stride(uint n, float alpha, global const float* x, global float* y) {
    uint stride = get_global_size(0);
    for (uint i = get_global_id(0); i < n; i += stride) {
        y[i] = fma(alpha, x[i], y[i]);
    }
}

kernel void matmul_naive(global const float* a, global const float* b, global float* c, uint m, uint n, uint k) {
    uint column = get_global_id(0);
    uint row = get_global_id(1);
    if (row >= m || column >= n) {
        return;
    }
    float sum = 0.0f;
    for (uint i = 0; i < k; ++i) {
        sum = fma(a[row * k + i], b[i * n + column], sum);
    }
    c[row * n + column] = sum;
}

#define TILE 16

kernel void matmul_tiled(global const float* a, global const float* b, global float* c, uint m, uint n, uint k) {
    local float tile_a[TILE][TILE];
    local float tile_b[TILE][TILE];
    uint x = get_local_id(0), y = get_local_id(1);
    uint column = get_group_id(0) * TILE + x;
    uint row = get_group_id(1) * TILE + y;
    float sum = 0.0f;
    for (uint first = 0; first < k; first += TILE) {
        tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
        tile_b[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; ++i) {
            sum = fma(tile_a[y][i], tile_b[i][x], sum);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

kernel void reduce_shared(global const float* in, global float* partial, uint n) {
    local float scratch[256];
    uint thread = get_local_id(0);
    float sum = 0.0f;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        sum += in[i];
    }
    scratch[thread] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = get_local_size(0) / 2; width > 0; width /= 2) {
        if (thread < width) {
            scratch[thread] += scratch[thread + width];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0) {
        partial[get_group_id(0)] = scratch[0];
    }
}

kernel void mandelbrot(global uint* counts, uint width, uint height, float left, float top, float step, uint limit) {
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    if (x >= width || y >= height) {
        return;
    }
    float c_re = fma((float)x, step, left);
    float c_im = fma((float)y, step, top);
    float re = 0.0f, im = 0.0f;
    uint count = 0;
    while (count < limit) {
        float im_squared = im * im;
        if (fma(re, re, im_squared) > 4.0f) {
            break;
        }
        float next_re = fma(re, re, -im_squared) + c_re;
        im = fma(re + re, im, c_im);
        re = next_re;
        ++count;
    }
    counts[y * width + x] = count;
}

#define BODIES 128
#define SOFTENING 1e-2f

kernel void nbody(global const float4* positions, global float4* velocities, global float4* next_positions, uint n,
                  float dt) {
    local float4 tile[BODIES];
    uint i = get_global_id(0);
    uint thread = get_local_id(0);
    float4 own = i < n ? positions[i] : (float4)(0.0f);
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint first = 0; first < n; first += BODIES) {
        uint j = first + thread;
        tile[thread] = j < n ? positions[j] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint t = 0; t < BODIES; ++t) {
            float dx = tile[t].x - own.x;
            float dy = tile[t].y - own.y;
            float dz = tile[t].z - own.z;
            float inverse = rsqrt(fma(dz, dz, fma(dx, dx, dy * dy)) + SOFTENING);
            float pull = tile[t].w * inverse * inverse * inverse;
            ax = fma(pull, dx, ax);
            ay = fma(pull, dy, ay);
            az = fma(pull, dz, az);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) {
        float4 v = velocities[i];
        v.x = fma(ax, dt, v.x);
        v.y = fma(ay, dt, v.y);
        v.z = fma(az, dt, v.z);
        velocities[i] = v;
        next_positions[i] = (float4)(fma(v.x, dt, own.x), fma(v.y, dt, own.y), fma(v.z, dt, own.z), own.w);
    }
}
