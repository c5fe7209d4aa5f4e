// The other source of `relocatable_main.cu`.
#include <cstdio>

static __constant__ int step = 2;

__device__ int offset = 1;
__device__ int twice(int number) {
    if (number == 31) printf("%s: %d\n", "the function", number);
    return step * number;
}
void set_offset(int value) { cudaMemcpyToSymbol(offset, &value, sizeof value); }
