//! The functions of the runtime API, by subject.

pub(crate) mod access;
pub(crate) mod any_node;
pub(crate) mod array;
pub(crate) mod boxes;
pub(crate) mod capture;
pub(crate) mod copy;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod function;
pub(crate) mod host;
pub(crate) mod launch;
pub(crate) mod library;
pub(crate) mod log;
pub(crate) mod memory;
pub(crate) mod node;
pub(crate) mod not_built;
pub(crate) mod peer_boxes;
pub(crate) mod pool;
pub(crate) mod range;
pub(crate) mod register;
pub(crate) mod stream;
pub(crate) mod symbol_node;
pub(crate) mod texture;
pub(crate) mod version;
