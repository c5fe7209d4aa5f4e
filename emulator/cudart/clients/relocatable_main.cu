// A program of two sources that call each other on the device, for -rdc=true. Prints "right" if it is.
#include <cstdio>

extern __device__ int twice(int);
extern __device__ int offset;
extern void set_offset(int);

__global__ void kernel(int *out) { out[threadIdx.x] = twice(threadIdx.x) + offset; }

int main() {
    int *out, got[32], wrong = 0;
    set_offset(5);
    cudaMalloc(&out, sizeof got);
    kernel<<<1, 32>>>(out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) wrong += got[i] != 2 * i + 5;
    printf("%s, %s\n", wrong ? "WRONG" : "right", cudaGetErrorName(cudaGetLastError()));
    return wrong != 0;
}
