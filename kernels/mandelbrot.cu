// Iteration counts of z = z * z + c over a rectangle of the complex plane.
//
// mandelbrot(u32* counts, u32 width, u32 height, float left, float top, float step, u32 limit)
//   counts:    width x height, row-major; pixel (x, y) is c = (left + x * step, top + y * step).
//              A count is the number of iterations with |z| <= 2, at most limit.
//   geometry:  2-D, any block; x covers the width, y the height.
//   shared:    none.
//   result:    exact: every operation is spelled with its rounding, so no compiler contracts it.

extern "C" __global__ void mandelbrot(unsigned* counts, unsigned width, unsigned height, float left, float top,
                                      float step, unsigned limit) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float c_re = fmaf((float)x, step, left);
    float c_im = fmaf((float)y, step, top);
    float re = 0.0f, im = 0.0f;
    unsigned count = 0;
    while (count < limit) {
        float im_squared = __fmul_rn(im, im);
        if (fmaf(re, re, im_squared) > 4.0f) {
            break;
        }
        float next_re = __fadd_rn(fmaf(re, re, -im_squared), c_re);
        im = fmaf(__fadd_rn(re, re), im, c_im);
        re = next_re;
        ++count;
    }
    counts[y * width + x] = count;
}
