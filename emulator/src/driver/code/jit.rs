//! Options of the calls that compile. The log buffers and the limits of registers matter here.

use core::ffi::{c_char, c_void};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{InMut, Out, Param};

/// The options that matter: the client's log buffers, and the limit of registers per thread.
#[derive(Debug, Default)]
pub(super) struct Options {
    error: Log,
    info: Log,
    registers: RegisterLimit,
}

/// Most registers that kernels may use, if the client limits them.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct RegisterLimit(Option<u32>);

/// Registers that the compiler needs whatever the limit; between 18 and 24 on an H100.
const FEWEST_REGISTERS: u32 = 24;

/// Registers of a multiprocessor, which the threads of a block share.
const REGISTERS_OF_BLOCK: u32 = 65536;

/// Text with which the line of a limit begins.
const MARK: &str = "// most registers of a thread: ";

impl RegisterLimit {
    fn lower_to(&mut self, most: u32) {
        self.0 = Some(self.0.map_or(most, |known| known.min(most)));
    }

    /// The lower of two limits.
    pub(super) fn and(mut self, other: Self) -> Self {
        if let Some(most) = other.0 {
            self.lower_to(most);
        }
        self
    }

    /// The limit as a last line of PTX, for code that is linked with one and loaded without.
    pub(super) fn mark(self) -> String {
        self.0.map_or_else(String::new, |most| format!("{MARK}{most}\n"))
    }

    /// The limit that was written into PTX.
    pub(super) fn marked(ptx: &str) -> Self {
        let last = ptx.trim_end_matches(['\0', '\n']).lines().next_back();
        Self(last.and_then(|line| line.strip_prefix(MARK)?.parse().ok()))
    }

    /// Registers of a kernel that would use `wanted`, and the bytes of local memory in place of the rest.
    pub(super) fn apply(self, wanted: u32) -> (u32, u32) {
        let most = self.0.map_or(wanted, |most| most.max(FEWEST_REGISTERS));
        let kept = wanted.min(most);
        (kept, (4 * (wanted - kept)).next_multiple_of(8))
    }
}

/// One buffer: its place, its size, and the place for the number of bytes written.
#[derive(Debug, Default)]
struct Log {
    buffer: Option<Out<c_char>>,
    room: usize,
    written: Option<Out<*mut c_void>>,
}

// SAFETY: the client's buffers, which it keeps until the call or the linker that they were given to is done; the
// calls of one linker come one after the other, by the contract of the client.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

impl Log {
    fn write(&self, text: &str) -> Answer {
        let Some(buffer) = self.buffer.filter(|_| self.room > 0) else {
            return Ok(());
        };
        buffer.set_text(text, self.room)?;
        // The number of bytes of the text is passed as if it were a pointer.
        if let Some(written) = self.written {
            let count = text.len().min(self.room - 1);
            written.set(core::ptr::without_provenance_mut(count))?;
        }
        Ok(())
    }
}

impl Options {
    /// Picks out the options that matter; the others change nothing here.
    pub(super) fn read(count: u32, options: InMut<CUjit_option>, values: Out<*mut c_void>) -> Answer<Self> {
        let mut read = Self::default();
        for (index, option) in options.input().get_all(count as usize)?.into_iter().enumerate() {
            ensure(option.name().is_some(), INVALID_VALUE)?;
            let slot = values.nth(index);
            let value = slot.get()?;
            // SAFETY: only called for the two options whose value is a buffer of the client's, or null.
            let buffer = || Some(unsafe { Out::from_raw(value.cast::<c_char>()) });
            match option {
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER => read.error.buffer = buffer(),
                CUjit_option::CU_JIT_INFO_LOG_BUFFER => read.info.buffer = buffer(),
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {
                    read.error.room = low_half(value);
                    read.error.written = Some(slot);
                }
                CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => {
                    read.info.room = low_half(value);
                    read.info.written = Some(slot);
                }
                CUjit_option::CU_JIT_MAX_REGISTERS => {
                    let most = low_half(value) as u32;
                    ensure(most > 0, INVALID_VALUE)?;
                    read.registers.lower_to(most);
                }
                CUjit_option::CU_JIT_THREADS_PER_BLOCK => {
                    let threads = (low_half(value) as u32).max(1);
                    read.registers.lower_to(REGISTERS_OF_BLOCK / threads / 8 * 8);
                }
                _ => {}
            }
        }
        Ok(read)
    }

    pub(super) fn registers(&self) -> RegisterLimit {
        self.registers
    }

    /// Writes the error log. The info log is then empty, and that is written too, as on hardware.
    pub(super) fn error(&self, text: &str) -> Answer {
        self.error.write(text)?;
        self.info.write("")
    }

    /// Leaves both logs empty.
    pub(super) fn nothing(&self) -> Answer {
        self.error.write("")?;
        self.info.write("")
    }
}

/// A 32-bit option in a slot for pointers, the rest of which the client may have left as it was.
fn low_half(value: *mut c_void) -> usize {
    value.addr() & 0xffff_ffff
}
