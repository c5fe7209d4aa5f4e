//! The CUDA driver API, function by function, with NVIDIA's signatures and error codes.
//!
//! | module | what |
//! |---|---|
//! | [`call`], [`table`] | how a C function is written here, and how it is found by name |
//! | [`handle`], [`state`], [`process`] | handles, the emulator behind them, forks |
//! | [`schedule`], [`operation`] | streams' operations and the order in which they run |
//! | the others | one subject of the API each: its objects and its functions |
//!
//! What is not implemented is present all the same and answers `CUDA_ERROR_NOT_SUPPORTED`.

mod allocation;
mod array;
mod call;
mod call_in_time;
mod context;
mod copy;
mod device;
mod dice;
mod error_text;
mod event;
mod fatbin;
mod function;
mod graph;
mod green;
mod handle;
mod heap;
mod image;
mod init;
mod jit;
mod joined;
mod launch;
mod leak;
mod leftover;
mod legacy_launch;
mod library;
mod link;
mod memop;
mod memset;
mod module;
mod occupancy;
mod operation;
mod outlive;
mod peer;
mod pointer;
mod pool;
mod primary;
mod process;
mod schedule;
mod state;
mod stream;
mod table;
mod texel_format;
mod texture;
mod texture_limit;
mod unsupported;
mod virtual_memory;

use core::ffi::c_void;

use cuprum_sys::{FnId, StreamMode, Symbol};

use crate::report::{Fault, Leak};

/// Enters the functions of every subject.
fn install_all(table: &mut table::Builder) {
    allocation::install(table);
    array::install(table);
    context::install(table);
    copy::install(table);
    device::install(table);
    event::install(table);
    function::install(table);
    graph::build::install(table);
    graph::capture::install(table);
    graph::condition::install(table);
    graph::exec::install(table);
    graph::node::install(table);
    green::install(table);
    init::install(table);
    launch::install(table);
    legacy_launch::install(table);
    library::install(table);
    link::install(table);
    memop::install(table);
    memset::install(table);
    module::install(table);
    occupancy::install(table);
    peer::install(table);
    pointer::install(table);
    pool::install(table);
    primary::install(table);
    stream::install(table);
    texture::install(table);
    virtual_memory::install(table);
}

/// The address of the function that a symbol names, or null if the version that the driver poses
/// as does not have it.
pub(crate) fn resolve(symbol: &Symbol) -> *const c_void {
    table::resolve(symbol, state::emulator().settings.driver_version)
}

/// See [`crate::set_publisher`].
pub(crate) fn set_publisher(publisher: fn(FnId, StreamMode) -> *const c_void) {
    table::set_publisher(publisher);
}

/// Whether a function is implemented.
pub(crate) fn implements(id: FnId) -> bool {
    table::table().implements(id)
}

/// What contexts that have ended left behind.
pub(crate) fn leaks() -> Vec<Leak> {
    state::emulator().leaks.all()
}

/// What clients hold now.
pub(crate) fn alive() -> Vec<Leak> {
    leak::alive()
}

/// See [`crate::reseed`].
pub(crate) fn reseed(seed: u64) {
    state::emulator().scheduler.reseed(seed);
}

/// The newest fault of any kernel.
pub(crate) fn last_fault() -> Option<Fault> {
    state::emulator().last_fault()
}
