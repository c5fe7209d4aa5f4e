/* A library that has nothing to do with CUDA. */
int answer(void) { return 42; }
