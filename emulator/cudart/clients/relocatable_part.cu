// The other source of `relocatable_main.cu`.
__device__ int offset = 1;
__device__ int twice(int number) { return 2 * number; }
void set_offset(int value) { cudaMemcpyToSymbol(offset, &value, sizeof value); }
