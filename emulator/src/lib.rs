//! A CUDA driver in software.
