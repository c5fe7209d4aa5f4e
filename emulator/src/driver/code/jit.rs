//! Options of functions that compile. Only the log buffers and the register limit matter here.

use core::ffi::{c_char, c_void};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{InMut, Out, Param};

/// The client's log buffers, and the limit of registers per thread.
#[derive(Debug, Default)]
pub(super) struct Options {
    error: Log,
    info: Log,
    registers: RegisterLimit,
}

/// Maximum registers per thread, if the client limits them.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct RegisterLimit(Option<u32>);

/// Registers that the compiler needs regardless of the limit; between 18 and 24 on an H100.
const FEWEST_REGISTERS: u32 = 24;

/// Registers of a multiprocessor, shared by the threads of a block.
const REGISTERS_OF_BLOCK: u32 = 65536;

/// Beginning of the line that states a limit.
const MARK: &str = "// most registers of a thread: ";

impl RegisterLimit {
    fn lower_to(&mut self, most: u32) {
        self.0 = Some(self.0.map_or(most, |known| known.min(most)));
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        if let Some(most) = other.0 {
            self.lower_to(most);
        }
        self
    }

    /// Returns the limit as a last line of PTX, for code linked with a limit and loaded without.
    pub(super) fn mark(self) -> String {
        self.0.map_or_else(String::new, |most| format!("{MARK}{most}\n"))
    }

    /// Reads the limit written into PTX.
    pub(super) fn marked(ptx: &str) -> Self {
        let last = ptx.trim_end_matches(['\0', '\n']).lines().next_back();
        Self(last.and_then(|line| line.strip_prefix(MARK)?.parse().ok()))
    }

    /// Returns the granted registers of `wanted`, and the bytes of local memory for the rest.
    pub(super) fn apply(self, wanted: u32) -> (u32, u32) {
        let most = self.0.map_or(wanted, |most| most.max(FEWEST_REGISTERS));
        let kept = wanted.min(most);
        (kept, (4 * (wanted - kept)).next_multiple_of(8))
    }
}

/// One buffer: its address, its size, and the output for the number of bytes written.
#[derive(Debug, Default)]
struct Log {
    buffer: Option<Out<c_char>>,
    room: usize,
    written: Option<Out<*mut c_void>>,
}

// SAFETY: the client keeps its buffers until the call or the linker that received them ends. By the
// client's contract, calls of one linker do not overlap.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

impl Log {
    fn write(&self, text: &str) -> Answer {
        let Some(buffer) = self.buffer.filter(|_| self.room > 0) else {
            return Ok(());
        };
        buffer.set_text(text, self.room)?;
        // The number of bytes is passed as if it were a pointer.
        if let Some(written) = self.written {
            let count = text.len().min(self.room - 1);
            written.set(core::ptr::without_provenance_mut(count))?;
        }
        Ok(())
    }
}

impl Options {
    /// Reads the options that matter; the others have no effect here.
    pub(super) fn read(count: u32, options: InMut<CUjit_option>, values: Out<*mut c_void>) -> Answer<Self> {
        let mut read = Self::default();
        for (index, option) in options.input().get_all(count as usize)?.into_iter().enumerate() {
            ensure(option.name().is_some(), INVALID_VALUE)?;
            let slot = values.nth(index);
            let value = slot.get()?;
            // SAFETY: only called for two options, whose value is a client's buffer or null.
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

    /// Writes the error log, and an empty info log, as on hardware.
    pub(super) fn error(&self, text: &str) -> Answer {
        self.error.write(text)?;
        self.info.write("")
    }

    /// Empties both logs.
    pub(super) fn nothing(&self) -> Answer {
        self.error.write("")?;
        self.info.write("")
    }
}

/// Reads a 32-bit option from a pointer-sized slot, whose other half may be uninitialized.
fn low_half(value: *mut c_void) -> usize {
    value.addr() & 0xffff_ffff
}
