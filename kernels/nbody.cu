// One step of gravity between all pairs of bodies, positions staged through shared memory.
//
// nbody(const float4* positions, float4* velocities, float4* next_positions, u32 n, float dt)
//   positions: n bodies as x, y, z, mass; read only.
//   velocities: n vectors, w unused; read and written.
//   next_positions: n bodies; mass is copied.
//   geometry:  1-D, block of exactly 128, ceil(n / 128) blocks.
//   shared:    2048 bytes, static: one tile of 128 bodies.
//   result:    f32 with an approximate reciprocal square root: compare to f64 within a tolerance.

#define BLOCK 128
#define SOFTENING 1e-2f

extern "C" __global__ void nbody(const float4* positions, float4* velocities, float4* next_positions, unsigned n,
                                 float dt) {
    __shared__ float4 tile[BLOCK];
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    float4 own = i < n ? positions[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (unsigned first = 0; first < n; first += BLOCK) {
        unsigned j = first + threadIdx.x;
        tile[threadIdx.x] = j < n ? positions[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        for (unsigned t = 0; t < BLOCK; ++t) {
            float dx = tile[t].x - own.x;
            float dy = tile[t].y - own.y;
            float dz = tile[t].z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
            float pull = tile[t].w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        float4 v = velocities[i];
        v.x += ax * dt;
        v.y += ay * dt;
        v.z += az * dt;
        velocities[i] = v;
        next_positions[i] = make_float4(own.x + v.x * dt, own.y + v.y * dt, own.z + v.z * dt, own.w);
    }
}
