//! Tests of the driver's functions with default settings, one module per kind of object.
//!
//! They run in parallel in one process, separated by contexts. Tests that read or change state of
//! the process or the device (the last fault, the error log, leaks, memory of graphs, the primary
//! context in more than one test, settings in the environment) run in a child. Test programs that
//! install settings and a hook are directly in `tests/`.

#[cfg(target_os = "linux")]
mod batch;
mod checks;
mod clusters;
mod context;
mod cooperative;
mod device_launches;
#[cfg(target_os = "linux")]
mod external;
mod fatbin;
mod functions;
#[cfg(target_os = "linux")]
mod goldens;
mod graph;
mod graph_memory;
mod graph_nodes;
mod graphics;
mod green;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod host_access;
#[cfg(target_os = "linux")]
mod host_virtual;
mod init;
mod launch;
mod library;
mod link;
mod log;
mod managed;
mod memory;
mod outlive;
mod pool;
mod printing;
mod sanitizer;
#[cfg(target_os = "linux")]
mod sharing;
mod stream;
mod tensors;
mod textures;
#[cfg(target_os = "linux")]
mod versions;

#[cfg(target_os = "linux")]
use cuprum_testing::peer;
