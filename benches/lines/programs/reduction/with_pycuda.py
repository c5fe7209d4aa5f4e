import os

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda

PTX = os.path.join(os.path.dirname(__file__), "../../../../kernels/reduce_shared.ptx")
N = 1 << 22
BLOCKS = 256

module = cuda.module_from_file(PTX)
reduce = module.get_function("reduce_shared")
stream = cuda.Stream()
input = cuda.to_device(np.full(N, 0.5, np.float32))
partial = np.empty(BLOCKS, np.float32)
device = cuda.mem_alloc(partial.nbytes)
start, end = cuda.Event(), cuda.Event()
start.record(stream)
arguments = (input, device, np.uint32(N))
reduce(*arguments, block=(256, 1, 1), grid=(BLOCKS, 1), stream=stream)
end.record(stream)
end.synchronize()
cuda.memcpy_dtoh(partial, device)
total = partial.sum()
milliseconds = end.time_since(start)
print(f"{total:.0f}, in less than a minute: {str(milliseconds < 60e3).lower()}")
