//! Safe layer over the CUDA driver API.
