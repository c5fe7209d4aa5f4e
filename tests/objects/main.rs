//! What each object does, a module for each, on the device that `CUPRUM_DEVICE` names.
//!
//! They run beside each other in one process. So nothing here may fault, set up the emulator, or let a drop swallow an
//! error: some of these tests see that nothing was swallowed anywhere. Free bytes are not to be counted either. What
//! needs that is a program of its own, directly in `tests/`; what makes calls fail is in `tests/traced`.

#[path = "../support/child.rs"]
mod child;
#[path = "../support/common/mod.rs"]
mod common;
#[path = "../support/executors.rs"]
mod executors;
#[path = "../support/sampling/mod.rs"]
mod sampling;

mod array;
mod context;
mod copies;
mod devices;
mod errors;
mod futures;
mod green;
mod host_call;
mod inside_the_driver;
mod launch;
mod library;
mod linker;
mod load_options;
mod log;
mod managed;
mod memory;
mod module;
mod numbers;
mod occupancy;
mod pinned;
mod pitched;
mod pointer;
mod pool;
mod pycuda_driver;
mod pycuda_pool;
mod pycuda_textures;
mod request;
mod stream;
mod stream_attributes;
mod surface;
mod tensor_map;
mod texture;
mod threads;
mod tools;
mod virtual_memory;
mod worker;
