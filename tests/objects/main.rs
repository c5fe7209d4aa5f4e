//! The behavior of each object, a module for each, on the device that `CUPRUM_DEVICE` names.
//!
//! The tests run concurrently in one process. Therefore nothing here may fault, set up the
//! emulator, or let a drop swallow an error: some of these tests check that nothing was swallowed
//! anywhere. Do not count free bytes either. A test that needs any of this is a program of its own,
//! directly in `tests/`. Tests that make calls fail are in `tests/traced`.

mod any_error;
mod array;
mod context;
mod copies;
mod devices;
mod errors;
mod futures;
mod green;
mod host_call;
mod images;
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
mod verbs;
mod virtual_memory;

use cuprum_testing::{child, common, executors, sampling};
