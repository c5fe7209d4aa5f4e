// A program of two sources that call each other on the device, for -rdc=true. Both have strings and a static constant
// of their own, to which the compiler gives the same names. Prints "right" if it is.
#include <cstdio>

extern __device__ int twice(int);
extern __device__ int offset;
extern void set_offset(int);

static __constant__ int step = 1000;

__global__ void kernel(int *out) {
    out[threadIdx.x] = twice(threadIdx.x) + offset + step;
    if (threadIdx.x == 31) printf("%s: %d\n", "the kernel", out[threadIdx.x]);
}

int main() {
    int *out, got[32], wrong = 0;
    set_offset(5);
    cudaMalloc(&out, sizeof got);
    kernel<<<1, 32>>>(out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) wrong += got[i] != 2 * i + 1005;
    printf("%s, %s\n", wrong ? "WRONG" : "right", cudaGetErrorName(cudaGetLastError()));
    return wrong != 0;
}
