//! The driver as a library: its functions by symbol, and the objects that clients left.

use core::ffi::c_void;

use cuprum_sys::{FnId, StreamMode, Symbol};

use crate::report::{Fault, Leak};

use super::call::{self, Builder, fill};
use super::{
    code, context, device, external, graph, graphics, green, init, log, memory, state, stream, texture,
    transfer,
};

/// Registers the functions and objects of every room.
fn install_all(builder: &mut Builder) {
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
    fill(install_all).resolve(symbol, state::settings().driver_version)
}

pub(crate) fn set_publisher(publisher: fn(FnId, StreamMode) -> *const c_void) {
    call::set_publisher(publisher);
}

pub(crate) fn implements(id: FnId) -> bool {
    fill(install_all).implements(id)
}

pub(crate) fn leaks() -> Vec<Leak> {
    context::leaks()
}

/// Returns the objects that clients have not destroyed.
pub(crate) fn alive() -> Vec<Leak> {
    fill(install_all);
    context::alive()
}

pub(crate) fn reseed(seed: u64) {
    state::scheduler().reseed(seed);
}

pub(crate) fn last_fault() -> Option<Fault> {
    code::last_fault()
}
