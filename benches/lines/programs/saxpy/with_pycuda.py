import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void saxpy(unsigned n, float alpha, const float *x, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}"""

module = SourceModule(SOURCE)
saxpy = module.get_function("saxpy")
x = gpuarray.to_gpu(np.full(1000, 1, np.float32))
y = gpuarray.to_gpu(np.full(1000, 2, np.float32))
saxpy(np.uint32(1000), np.float32(3), x, y, block=(256, 1, 1), grid=(4, 1))
print(int(y.get().sum()))
