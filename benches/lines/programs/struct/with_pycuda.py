import os
import threading

import numpy as np
import pycuda.driver as cuda
from pycuda import gpuarray

PTX = os.path.join(os.path.dirname(__file__), "../../../../kernels/saxpy.ptx")


class App:
    def __init__(self, x):
        self.context = cuda.Device(0).retain_primary_context()
        self.context.push()
        try:
            self.saxpy = cuda.module_from_file(PTX).get_function("saxpy")
            self.saxpy.prepare("IfPP")
            self.stream = cuda.Stream()
            self.x = gpuarray.to_gpu(np.array(x, dtype=np.float32))
            self.y = gpuarray.to_gpu(np.zeros(len(x), dtype=np.float32))
        finally:
            cuda.Context.pop()

    def step(self, alpha):
        self.context.push()
        try:
            n = self.x.size
            grid, block = ((n + 255) // 256, 1), (256, 1, 1)
            arguments = n, alpha, self.x.gpudata, self.y.gpudata
            self.saxpy.prepared_async_call(grid, block, self.stream, *arguments)
            self.stream.synchronize()
            return self.y.get()
        finally:
            cuda.Context.pop()

    def close(self):
        self.context.push()
        del self.saxpy, self.stream, self.x, self.y
        cuda.Context.pop()


cuda.init()
app = App([1.0, 2.0, 3.0])
print(app.step(2.0).tolist())
result = []
thread = threading.Thread(target=lambda: result.append(app.step(1.0)))
thread.start()
thread.join()
print(result[0].tolist())
app.close()
