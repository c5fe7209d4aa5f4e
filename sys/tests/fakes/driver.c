/* The smallest driver: says that it is of CUDA 12.4 and finds no device. */
int cuInit(unsigned flags) { return flags ? 1 : 100; }
int cuDriverGetVersion(int *version) { return *version = 12040, 0; }
int cuMemcpy(void) { return 1; }
int cuMemcpy_ptds(void) { return 2; }
