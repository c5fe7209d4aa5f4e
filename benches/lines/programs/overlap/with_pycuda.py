import os

import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda

PTX = os.path.join(os.path.dirname(__file__), "../../../../kernels/saxpy.ptx")
CHUNKS = 4
N = 1 << 20

module = cuda.module_from_file(PTX)
saxpy = module.get_function("saxpy")
streams = [cuda.Stream(), cuda.Stream()]
x = cuda.to_device(np.ones(N, np.float32))
host = [cuda.pagelocked_empty(N, np.float32) for _ in range(CHUNKS)]
device = [cuda.mem_alloc(chunk.nbytes) for chunk in host]
for i in range(CHUNKS):
    host[i].fill(i)
for i in range(CHUNKS):
    stream = streams[i % 2]
    cuda.memcpy_htod_async(device[i], host[i], stream)
    grid = ((N + 255) // 256, 1)
    arguments = (np.uint32(N), np.float32(2), x, device[i])
    saxpy(*arguments, block=(256, 1, 1), grid=grid, stream=stream)
    cuda.memcpy_dtoh_async(host[i], device[i], stream)
for stream in streams:
    stream.synchronize()
for i in range(CHUNKS):
    assert (host[i] == i + 2).all()
    print(f"chunk {i} is right")
