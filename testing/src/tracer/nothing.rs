//! A driver that does nothing: it returns handles of no object, and answers with success.
//!
//! For the cost of a wrapper over a driver that costs nothing, and for two drivers in one process
//! whose handles are equal numbers.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

use cuprum::sys::{CUresult, FnId};

use super::asked::Asked;

/// Number of these drivers.
const COUNT: usize = 2;

thread_local! {
    static STACKS: [RefCell<Vec<u64>>; COUNT] = const { [const { RefCell::new(Vec::new()) }; COUNT] };
    static NEXT: [Cell<u64>; COUNT] = {
        let first = FIRST.fetch_add(1 << 32, Ordering::Relaxed);
        std::array::from_fn(|_| Cell::new(first))
    };
}

/// First handle of the next thread. A context that two threads have is one context to the safe
/// layer, which keeps state for it.
static FIRST: AtomicU64 = AtomicU64::new(0x1000);

/// The version that the driver poses as.
const VERSION: i32 = 9000;

/// A handle that this driver has not given out; the other driver may have, on this thread.
fn fresh(which: usize) -> u64 {
    NEXT.with(|next| next[which].replace(next[which].get() + 0x100))
}

fn on_stack<R>(which: usize, change: impl FnOnce(&mut Vec<u64>) -> R) -> R {
    STACKS.with(|stacks| change(&mut stacks[which].borrow_mut()))
}

/// The context current on this thread, 0 for none.
pub(super) fn current(which: usize) -> u64 {
    on_stack(which, |stack| stack.last().copied()).unwrap_or(0)
}

/// Writes `value` where an argument points.
fn put<T>(to: u64, value: T) {
    let to = std::ptr::with_exposed_provenance_mut::<T>(to as usize);
    if !to.is_null() {
        // SAFETY: the argument is an out-parameter of this type, which the safe layer has made
        // writable.
        unsafe { to.write(value) }
    }
}

/// Page-locked memory, which is really there, and stays.
fn host_memory(bytes: usize) -> *mut u8 {
    const PAGE: usize = 4096;
    let memory = vec![[0u8; PAGE]; bytes.div_ceil(PAGE) + 1].leak().as_mut_ptr().cast::<u8>();
    memory.wrapping_add(memory.align_offset(PAGE))
}

/// Answers a call. A function without a line of its own succeeds and does nothing.
pub(super) fn answer(which: usize, asked: &Asked<'_>) -> CUresult {
    let words = asked.words;
    match asked.function {
        FnId::cuDriverGetVersion => put(words[0], VERSION),
        FnId::cuDeviceGetCount => put(words[0], 1i32),
        FnId::cuDeviceGet => put(words[0], words[1] as i32),
        FnId::cuDeviceGetAttribute | FnId::cuFuncGetAttribute => put(words[0], 1024i32),
        FnId::cuCtxCreate_v2 => {
            let context = fresh(which);
            on_stack(which, |stack| stack.push(context));
            put(words[0], context);
        }
        FnId::cuCtxPushCurrent_v2 => on_stack(which, |stack| stack.push(words[0])),
        FnId::cuCtxPopCurrent_v2 => put(words[0], on_stack(which, Vec::pop).unwrap_or(0)),
        FnId::cuCtxDestroy_v2 if current(which) == words[0] => {
            on_stack(which, Vec::pop);
        }
        FnId::cuCtxGetCurrent => put(words[0], current(which)),
        FnId::cuMemAlloc_v2
        | FnId::cuMemAllocManaged
        | FnId::cuStreamCreate
        | FnId::cuEventCreate
        | FnId::cuModuleLoadDataEx
        | FnId::cuModuleGetFunction => put(words[0], fresh(which)),
        FnId::cuMemHostAlloc => put(words[0], host_memory(words[1] as usize)),
        FnId::cuMemcpyDtoH_v2 => {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(words[0] as usize);
            // SAFETY: the safe layer passes host memory of that many bytes.
            unsafe { to.write_bytes(0, words[2] as usize) }
        }
        FnId::cuEventElapsedTime | FnId::cuEventElapsedTime_v2 => put(words[0], 1.5f32),
        _ => {}
    }
    CUresult::CUDA_SUCCESS
}
