//! Requests of running kernels to the driver: `printf`, heap memory, conditions, texture objects,
//! launches.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::CUlimit;

use crate::exec::touched::Touched;
use crate::exec::{self, Hooks};
use crate::memory::{Region, RegionKind};
use crate::program::instruction::SystemCall;
use crate::report::Fault;

use crate::driver::answer::Answer;
use crate::driver::context::{Context, Heap};
use crate::driver::state::{is_gathering, settings};
use crate::driver::texture;

use super::device_runtime::{Request, Requests};
use super::function::Function;
use super::{condition, fault};

/// Output of a launch, which is printed when the launch ends. As on hardware, the buffer has a
/// limited size; here the oldest output is dropped first. On hardware the host empties the buffer
/// while the kernel runs, so an H100 loses varying output somewhere in the middle.
#[derive(Debug, Default)]
struct Printed {
    texts: VecDeque<Box<str>>,
    bytes: usize,
}

/// Minimum bytes of one call of `printf`.
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

#[derive(Debug)]
pub(super) struct KernelHooks {
    context: Arc<Context>,
    heap: Option<Arc<Heap>>,
    printed: Mutex<Printed>,
    most_printed: usize,
    /// The bytes that the launch accesses, if the operation records them.
    touched: Option<Touched>,
    /// The work that the kernel requests, if it calls the device runtime.
    requests: Option<Requests>,
}

impl KernelHooks {
    /// Creates the heap for the first launch of a kernel that allocates. `waiting` is the number of
    /// requests of earlier kernels that have not run.
    pub(super) fn new(function: &Arc<Function>, waiting: usize) -> Answer<Self> {
        let (context, kernel) = (&function.module.context, &function.kernel);
        let heap = if kernel.calls(SystemCall::Malloc) { Some(context.heap()?) } else { None };
        let fifo = CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE;
        let most_printed = if kernel.calls(SystemCall::Printf) { context.use_limit(fifo)? } else { 0 };
        let touched = is_gathering().then(Touched::default);
        let requests = match kernel.calls(SystemCall::Runtime) {
            true => Some(Requests::new(function, waiting)?),
            false => None,
        };
        let context = Arc::clone(context);
        Ok(Self { context, heap, printed: Mutex::default(), most_printed, touched, requests })
    }

    /// Returns the work that the kernel requested, after it has ended, from the last to the first.
    pub(super) fn take_requests(&mut self, in_graph: bool) -> Vec<Request> {
        self.requests.take().map(|requests| requests.into_work(in_graph).collect()).unwrap_or_default()
    }

    /// Returns the bytes that the launch accessed, after it has ended.
    pub(super) fn take_touched(&mut self) -> Option<Touched> {
        self.touched.take()
    }
}

impl Drop for KernelHooks {
    /// Writes the kernel's output to the program's standard output.
    fn drop(&mut self) {
        let printed = self.printed.get_mut().unwrap_or_else(PoisonError::into_inner);
        if printed.texts.is_empty() {
            return;
        }
        let text: String = printed.texts.drain(..).collect();
        // An error is dropped: standard output cannot be written.
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

    fn touched(&self) -> Option<&Touched> {
        self.touched.as_ref()
    }

    /// A fault of another kernel ends this one too, as on hardware.
    fn is_stopped(&self) -> bool {
        self.context.health.check().is_err()
    }

    fn goes_on(&self, finding: &Fault) -> bool {
        let goes_on = !settings().fail_fast;
        if goes_on {
            fault::report(finding);
        }
        goes_on
    }

    fn set_condition(&self, condition: u64, value: u32) -> bool {
        condition::set(condition, value)
    }

    fn runtime(&self, thread: u64, arguments: &[u32]) -> Result<u64, String> {
        let missing = || "a call of the device runtime that was not linked".to_owned();
        self.requests.as_ref().ok_or_else(missing)?.answer(thread, arguments)
    }

    /// Memory of another device is accessible once the context has access to the memory's context.
    /// Memory of other APIs never is: on two H200s this holds for OpenGL's, and for imported memory
    /// once the import has ended. Pools, mapped memory and host memory are accessible from all
    /// devices or none.
    fn reaches(&self, region: &Region) -> bool {
        use RegionKind as K;

        region.device == self.context.device as u32
            || match region.kind {
                K::Device | K::Global | K::Heap => self.context.has_access_to(region.context),
                K::External | K::Graphics => false,
                _ => true,
            }
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
