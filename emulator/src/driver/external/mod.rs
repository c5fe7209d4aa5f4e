//! Memory and semaphores of other APIs, by file descriptor.

mod memory;
mod semaphore;

use crate::driver::call::Builder;

pub(crate) use semaphore::{Params, Semaphores, Step};

pub(crate) fn install(builder: &mut Builder) {
    memory::install(builder);
    semaphore::install(builder);
}

/// Reason for refusing other types of handles.
const NOT_A_DESCRIPTOR: &str = "the software device knows no other driver of the system: it imports file descriptors that it \
     exported itself, or that cuprum_emulator::memory::ExternalMemory and ExternalSemaphore made";
