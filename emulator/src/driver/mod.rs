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
mod log;
mod memory;
mod state;
mod stream;
mod texture;
mod transfer;

use core::ffi::c_void;

use cuprum_sys::{FnId, StreamMode, Symbol};

use crate::report::{Fault, Leak};

/// Registers the functions and objects of every room.
fn install_all(builder: &mut call::Builder) {
    code::install(builder);
    context::install(builder);
    device::install(builder);
    external::install(builder);
    graph::install(builder);
    graphics::install(builder);
    green::install(builder);
    init::install(builder);
    log::install(builder);
    memory::install(builder);
    stream::install(builder);
    texture::install(builder);
    transfer::install(builder);
}

/// Returns the address of this symbol's function; null if the emulated driver version lacks it.
pub(crate) fn resolve(symbol: &Symbol) -> *const c_void {
    call::fill(install_all).resolve(symbol, state::settings().driver_version)
}

pub(crate) fn set_publisher(publisher: fn(FnId, StreamMode) -> *const c_void) {
    call::set_publisher(publisher);
}

pub(crate) fn implements(id: FnId) -> bool {
    call::fill(install_all).implements(id)
}

pub(crate) fn leaks() -> Vec<Leak> {
    context::LEAKS.all()
}

/// Returns the objects that clients have not destroyed.
pub(crate) fn alive() -> Vec<Leak> {
    call::fill(install_all);
    context::alive()
}

pub(crate) fn reseed(seed: u64) {
    state::scheduler().reseed(seed);
}

pub(crate) fn last_fault() -> Option<Fault> {
    code::fault::last()
}
