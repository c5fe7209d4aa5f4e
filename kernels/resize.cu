// Resizes a picture: read through a texture object, written through a surface object.
//
// resize(texture source, surface target, u32 width, u32 height)
//     one thread a pixel of the target, blocks of two dimensions; no shared memory.
//     source: any format that reads as numbers, four channels, normalized coordinates, linear filtering.
//     target: width x height pixels of four bytes; pixels beyond are not touched.
// downscale(texture source, surface target, u32 width, u32 height, f32 level)
//     the same from one level of a mipmapped source, which may lie between two.

typedef unsigned char byte;

static __device__ byte to_byte(float value) {
    return (byte)(value * 255.0f + 0.5f);
}

static __device__ void store(cudaSurfaceObject_t target, unsigned x, unsigned y, float4 color) {
    uchar4 pixel = make_uchar4(to_byte(color.x), to_byte(color.y), to_byte(color.z), to_byte(color.w));
    surf2Dwrite(pixel, target, x * sizeof(uchar4), y);
}

extern "C" __global__ void resize(cudaTextureObject_t source, cudaSurfaceObject_t target, unsigned width,
                                  unsigned height) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    store(target, x, y, tex2D<float4>(source, (x + 0.5f) / width, (y + 0.5f) / height));
}

extern "C" __global__ void downscale(cudaTextureObject_t source, cudaSurfaceObject_t target, unsigned width,
                                     unsigned height, float level) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    store(target, x, y, tex2DLod<float4>(source, (x + 0.5f) / width, (y + 0.5f) / height, level));
}
