//! The CUDA driver API, resolved at run time.
