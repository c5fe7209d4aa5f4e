import os

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda

KERNELS = os.path.join(os.path.dirname(__file__), "../../../../kernels")
N = 100_000


def kernel(name):
    return cuda.module_from_file(f"{KERNELS}/{name}.ptx").get_function(name)


add, saxpy = kernel("vector_add"), kernel("saxpy")
config = {"block": (256, 1, 1), "grid": (-(-N // 256), 1)}
a, b = np.full(N, 1.5, np.float32), np.full(N, 2, np.float32)
y = np.zeros(N, np.float32)
add(cuda.In(a), cuda.In(b), cuda.Out(y), np.uint32(N), **config)
saxpy(np.uint32(N), np.float32(2), cuda.In(a), cuda.InOut(y), **config)
print(f"{y[0]:.1f} {y[-1]:.1f}")
