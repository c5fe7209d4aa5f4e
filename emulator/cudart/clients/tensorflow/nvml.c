// Stands in for NVIDIA's management library, which a software device does not have: TensorFlow looks for no device if it cannot
// initialize that library. All other functions are missing, which TensorFlow accepts.
int nvmlInit_v2(void) { return 0; }
