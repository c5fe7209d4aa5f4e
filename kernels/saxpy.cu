// y = alpha * x + y, in the two usual shapes of a one-dimensional kernel.
//
// saxpy(u32 n, float alpha, const float* x, float* y)
//   x, y:      n elements each; y is read and written.
//   geometry:  1-D, any block size, at least n threads in all.
//   shared:    none.
//   result:    exact: one fused multiply-add an element.
//
// saxpy_grid_stride(u32 n, float alpha, const float* x, float* y)
//   as above, but any number of threads: each walks the vector in steps of the whole grid.

extern "C" __global__ void saxpy(unsigned n, float alpha, const float* x, float* y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = fmaf(alpha, x[i], y[i]);
    }
}

extern "C" __global__ void saxpy_grid_stride(unsigned n, float alpha, const float* x, float* y) {
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = fmaf(alpha, x[i], y[i]);
    }
}
