//! Requests of running kernels to the driver: output of `printf`, memory of the heap, conditions, texture objects.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::CUlimit;

use crate::exec::{self, Hooks};
use crate::program::Program;

use crate::driver::answer::Answer;
use crate::driver::context::{Context, Heap};
use crate::driver::state::Health;
use crate::driver::texture;

use super::condition;

/// Output of kernels that nobody has seen yet. As on hardware it holds a limited number of bytes; the oldest of
/// which go first, and it comes out when the launch has ended. On hardware the host empties it meanwhile, when it has
/// time to: what an H100 loses of a flood is somewhere in the middle, not always the same.
#[derive(Debug, Default)]
struct Printed {
    texts: VecDeque<Box<str>>,
    bytes: usize,
}

/// Least bytes that a call of `printf` takes.
const LEAST_RECORD: usize = 32;

impl Printed {
    fn push(&mut self, text: &str, limit: usize) {
        let size = |text: &str| text.len().max(LEAST_RECORD);
        self.bytes += size(text);
        self.texts.push_back(text.into());
        while self.bytes > limit {
            let Some(oldest) = self.texts.pop_front() else { return };
            self.bytes -= size(&oldest);
        }
    }
}

/// The hooks of one launch.
#[derive(Debug)]
pub(super) struct KernelHooks {
    health: Arc<Health>,
    heap: Option<Arc<Heap>>,
    printed: Mutex<Printed>,
    most_printed: usize,
}

impl KernelHooks {
    /// The heap exists from the first launch of a program that allocates.
    pub(super) fn new(context: &Context, program: &Program) -> Answer<Self> {
        let calls = |function: &str| program.functions().iter().any(|name| name == function);
        let heap = if calls("malloc") { Some(context.heap()?) } else { None };
        let fifo = CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE;
        let most_printed = if calls("vprintf") { context.use_limit(fifo)? } else { 0 };
        let health = Arc::clone(&context.health);
        Ok(Self { health, heap, printed: Mutex::default(), most_printed })
    }
}

impl Drop for KernelHooks {
    /// A kernel's output is the program's: it goes to the program's standard output.
    fn drop(&mut self) {
        let printed = self.printed.get_mut().unwrap_or_else(PoisonError::into_inner);
        if printed.texts.is_empty() {
            return;
        }
        let text: String = printed.texts.drain(..).collect();
        // An error has nobody to be reported to, if nobody reads the output.
        let mut stdout = io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    }
}

impl Hooks for KernelHooks {
    fn print(&self, text: &str) {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).push(text, self.most_printed);
    }

    fn malloc(&self, bytes: u64) -> u64 {
        self.heap.as_ref().map_or(0, |heap| heap.allocate(bytes))
    }

    fn free(&self, address: u64) -> bool {
        self.heap.as_ref().is_some_and(|heap| heap.release(address))
    }

    /// A fault of another kernel ends this one too, as on hardware.
    fn is_stopped(&self) -> bool {
        self.health.check().is_err()
    }

    fn set_condition(&self, condition: u64, value: u32) -> bool {
        condition::set(condition, value)
    }

    fn object(&self, handle: u64, surface: bool) -> exec::texture::Handle {
        texture::find(handle, surface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_limited_and_the_newest_stays() {
        let mut printed = Printed::default();
        for line in 0..100_000 {
            printed.push(&format!("{line}\n"), 1 << 16);
        }
        assert_eq!(printed.texts.len(), (1 << 16) / LEAST_RECORD);
        assert_eq!(printed.texts.back().map(|text| &**text), Some("99999\n"));
        printed.push(&"x".repeat(1 << 17), 1 << 16);
        assert!(printed.texts.is_empty());
    }
}
