//! Options of the calls that compile, of which the log buffers matter here.

use core::ffi::{c_char, c_void};

use cuprum_sys::*;

use super::call::{Answer, INVALID_VALUE, InMut, Out, Param, ensure};

/// The client's log buffers.
#[derive(Debug, Default)]
pub(super) struct Logs {
    error: Log,
    info: Log,
}

/// One buffer: where it is, its size, and where the client wants to know how much was written.
#[derive(Debug, Default)]
struct Log {
    buffer: Option<Out<c_char>>,
    room: usize,
    written: Option<Out<*mut c_void>>,
}

// SAFETY: the client's buffers, which it keeps until the call or the linker they were given to is
// done; only that one call writes to them.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

impl Log {
    fn write(&self, text: &str) -> Answer {
        let Some(buffer) = self.buffer.filter(|_| self.room > 0) else {
            return Ok(());
        };
        buffer.set_text(text, self.room)?;
        // The number counts the bytes of the text; it is passed as if it were a pointer.
        if let Some(written) = self.written {
            let count = text.len().min(self.room - 1);
            written.set(core::ptr::without_provenance_mut(count))?;
        }
        Ok(())
    }
}

impl Logs {
    /// Picks the log buffers out of the options; the others change nothing here.
    pub(super) fn from_options(
        count: u32,
        options: InMut<CUjit_option>,
        values: Out<*mut c_void>,
    ) -> Answer<Self> {
        let mut logs = Self::default();
        for (index, option) in options.input().get_all(count as usize)?.into_iter().enumerate() {
            ensure(option.name().is_some(), INVALID_VALUE)?;
            let slot = values.nth(index);
            let value = slot.get()?;
            // SAFETY: for the two buffer options, the value is the client's buffer.
            let buffer = || Some(unsafe { Out::from_raw(value.cast::<c_char>()) });
            match option {
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER => logs.error.buffer = buffer(),
                CUjit_option::CU_JIT_INFO_LOG_BUFFER => logs.info.buffer = buffer(),
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {
                    logs.error.room = low_half(value);
                    logs.error.written = Some(slot);
                }
                CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => {
                    logs.info.room = low_half(value);
                    logs.info.written = Some(slot);
                }
                _ => {}
            }
        }
        Ok(logs)
    }

    /// Writes the error log. There is nothing to inform about then, and that is written too, as hardware does.
    pub(super) fn error(&self, text: &str) -> Answer {
        self.error.write(text)?;
        self.info.write("")
    }

    /// Leaves both logs empty, which says that there was nothing to say.
    pub(super) fn nothing(&self) -> Answer {
        self.error.write("")?;
        self.info.write("")
    }
}

/// A 32-bit option in a slot for pointers, the rest of which the client may have left as it was.
fn low_half(value: *mut c_void) -> usize {
    value.addr() & 0xffff_ffff
}
