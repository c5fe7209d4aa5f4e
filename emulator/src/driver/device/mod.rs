//! Devices: their number, their features, and their limits.

mod atomic;
mod attributes;
mod install;
pub(crate) mod texture_limit;
mod visible;

pub(crate) use attributes::{
    BLOCKS_PER_MULTIPROCESSOR, MAX_BLOCK, MAX_GRID, MAX_PITCH, MAX_THREADS, MAX_WINDOW,
    REGISTERS_PER_MULTIPROCESSOR, SHARED_DEFAULT, SHARED_OPT_IN, SHARED_PER_MULTIPROCESSOR, SHARED_RESERVED,
    SYNC_DOMAINS, THREADS_PER_MULTIPROCESSOR, attribute, multiprocessors, processors,
};
pub(crate) use install::install;
pub(crate) use visible::{check, count};
