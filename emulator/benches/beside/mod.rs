//! What the emulator is put beside, and what all of them run.

pub(crate) mod clock;
pub(crate) mod contest;
pub(crate) mod emulator;
pub(crate) mod native;
