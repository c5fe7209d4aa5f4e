//! Handles of other types than file descriptors, which are refused.

/// Reason for refusing other types of handles.
pub(super) const NOT_A_DESCRIPTOR: &str = "the software device knows no other driver of the system: it imports file descriptors that it \
     exported itself, or that cuprum_emulator::memory::ExternalMemory and ExternalSemaphore made";
