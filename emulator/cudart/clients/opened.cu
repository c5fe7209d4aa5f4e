// A library with a kernel and a variable, which a program opens and closes.
__device__ int count = 0;
__global__ void increment(int *out) { *out = ++count; }

extern "C" int next() {
    int *out, value = -1;
    if (cudaMalloc(&out, sizeof value)) return -2;
    increment<<<1, 1>>>(out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() ? -3 : value;
}
