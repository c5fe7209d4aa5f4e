//! The releases of NVRTC that tests fetch.

/// The releases tested: package, version and path of the library.
pub(crate) const RELEASES: &[(&str, &str, &str)] = &[
    ("nvidia-cuda-nvrtc-cu11", "11.7.99", "cuda_nvrtc/lib/libnvrtc.so.11.2"),
    ("nvidia-cuda-nvrtc-cu11", "11.8.89", "cuda_nvrtc/lib/libnvrtc.so.11.2"),
    ("nvidia-cuda-nvrtc-cu12", "12.0.140", "cuda_nvrtc/lib/libnvrtc.so.12"),
    ("nvidia-cuda-nvrtc-cu12", "12.4.127", "cuda_nvrtc/lib/libnvrtc.so.12"),
    ("nvidia-cuda-nvrtc-cu12", "12.9.86", "cuda_nvrtc/lib/libnvrtc.so.12"),
    ("nvidia-cuda-nvrtc", "13.0.88", "cu13/lib/libnvrtc.so.13"),
    ("nvidia-cuda-nvrtc", "13.5.37", "cu13/lib/libnvrtc.so.13"),
];
