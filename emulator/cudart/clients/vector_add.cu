// The first program of every book, as it is written for NVIDIA's runtime. Prints "right" if it is.
#include <cstdio>
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 100000;
    const size_t size = n * sizeof(float);
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
    float *da, *db, *dc;
    if (cudaMalloc(&da, size) || cudaMalloc(&db, size) || cudaMalloc(&dc, size)) return 1;
    cudaMemcpy(da, a.data(), size, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), size, cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    cudaMemcpy(c.data(), dc, size, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += c[i] != 3.0f * i;
    cudaFree(da), cudaFree(db), cudaFree(dc);
    printf("%s, %s\n", wrong ? "WRONG" : "right", cudaGetErrorName(cudaGetLastError()));
    return wrong != 0;
}
