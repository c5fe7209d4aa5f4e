//! The software CUDA driver as `libcuda.so.1`.
