//! The CUDA driver API, function by function, with NVIDIA's signatures and error codes.
//!
//! The rooms from the bottom to the top; each uses only rooms above it in this table:
//!
//! | room | contents |
//! |---|---|
//! | [`answer`], [`handle`] | results of functions; the C types of handles |
//! | [`state`] | settings, memory, the queue of operations, captures: knows no object |
//! | [`call`] | the definition and lookup of C functions; tables of objects: knows none |
//! | [`device`] | devices, their attributes and limits |
//! | [`context`] | contexts, the current one, their leaks |
//! | [`memory`] | allocations, pools, virtual memory, queries about addresses |
//! | [`stream`] | streams, events, operations queued in them |
//! | [`texture`] | arrays, texture and surface objects |
//! | [`external`] | memory and semaphores of other APIs |
//! | [`graphics`] | buffers and images of OpenGL |
//! | [`transfer`] | copies and fills |
//! | [`code`] | images, modules, libraries, functions, the linker, launches |
//! | [`graph`] | graphs, their nodes, capture |
//! | [`green`] | green contexts |
//! | [`log`] | the error log |
//! | [`init`], [`error_text`] | initialization, version, function lookup, texts of errors |
//! | [`library`] | the functions of all rooms, by symbol |
//!
//! Functions that are not implemented exist, and return `CUDA_ERROR_NOT_SUPPORTED`.

mod answer;
mod call;
mod code;
mod context;
mod device;
mod error_text;
mod external;
mod graph;
mod graphics;
mod green;
mod handle;
mod init;
mod library;
mod log;
mod memory;
mod state;
mod stream;
mod texture;
mod transfer;

pub(crate) use self::library::{alive, implements, last_fault, leaks, reseed, resolve, set_publisher};
