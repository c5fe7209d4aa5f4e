//! Hot wrappers over a driver that does nothing, one at a time, as often as requested:
//! `benches/instructions.sh` counts their instructions. The count is exact even if other work on
//! the machine spoils times.

use std::cell::Cell;
use std::ffi::c_void;
use std::hint::black_box;
use std::{env, ptr};

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::{Peer, PinnedFlags};
use cuprum::pool::{BufferPool, PinnedPool};
use cuprum::sys::{CUcontext, CUdeviceptr, CUresult, CUstream, Symbol};
use cuprum::{Buffer, Current, Driver, Library, Stream};

const BYTES: usize = 4 << 10;

thread_local! {
    static TOP: Cell<u64> = const { Cell::new(0) };
    static NEXT: Cell<u64> = const { Cell::new(0x1000) };
}

unsafe extern "system" fn nothing() -> i32 {
    0
}

/// Returns a number.
unsafe extern "system" fn number(to: *mut i32) -> i32 {
    // SAFETY: the caller's place.
    unsafe { to.write(9000) };
    0
}

unsafe extern "system" fn first(to: *mut i32) -> i32 {
    // SAFETY: the caller's place.
    unsafe { to.write(0) };
    0
}

/// Returns a handle, or an address far from all others.
unsafe extern "system" fn make(to: *mut u64) -> i32 {
    // SAFETY: the caller's place.
    unsafe { to.write(NEXT.replace(NEXT.get() + (1 << 30))) };
    0
}

unsafe extern "system" fn make_host(to: *mut *mut c_void, bytes: usize) -> i32 {
    let memory: &mut [u64] = vec![0; bytes.div_ceil(8)].leak();
    // SAFETY: the caller's place.
    unsafe { to.write(memory.as_mut_ptr().cast()) };
    0
}

unsafe extern "system" fn push(context: u64) -> i32 {
    TOP.set(context);
    0
}

unsafe extern "system" fn pop(to: *mut u64) -> i32 {
    // SAFETY: the caller's place.
    unsafe { to.write(TOP.get()) };
    0
}

/// A function for each of the table, with only the parameters that it reads: the first ones, in
/// registers.
fn resolve(symbol: &Symbol) -> *const c_void {
    match symbol.base {
        "cuGetProcAddress" => ptr::null(),
        "cuDriverGetVersion" | "cuDeviceGetCount" | "cuDeviceGetAttribute" => number as *const c_void,
        "cuDeviceGet" => first as *const c_void,
        "cuCtxPushCurrent" => push as *const c_void,
        "cuCtxPopCurrent" => pop as *const c_void,
        "cuMemHostAlloc" => make_host as *const c_void,
        "cuCtxCreate" | "cuStreamCreate" | "cuStreamCreateWithPriority" | "cuMemAlloc" => {
            make as *const c_void
        }
        _ => nothing as *const c_void,
    }
}

/// Counted from a run that does it once more.
fn repeat<R, E>(times: u64, mut body: impl FnMut() -> Result<R, E>) {
    for _ in 0..times {
        assert!(black_box(body().is_ok()));
    }
}

// SAFETY of raw calls: the driver looks at no argument but places for results.
#[allow(clippy::undocumented_unsafe_blocks, reason = "said once above")]
fn calls(what: &str, times: u64, driver: Driver, cx: &mut Current<'_, '_>, other: &Context) {
    let (fns, success) = (black_box(driver.library()).fns(), CUresult::CUDA_SUCCESS);
    let (here, there) = (cx.context().as_raw(), other.as_raw());
    let told = |answer: CUresult| if answer == success { Ok(()) } else { Err(answer) };
    let theirs = Buffer::<u8>::zeroed(&cx.push(other).unwrap(), BYTES).unwrap();
    let mut mine = Buffer::<u8>::zeroed(cx, BYTES).unwrap();
    let stream = Stream::new(cx).unwrap();
    match what {
        "push + pop, raw" => {
            let (push, pop) = black_box((fns.cuCtxPushCurrent_v2, fns.cuCtxPopCurrent_v2));
            repeat(times, || {
                let mut popped = CUcontext::null();
                told(unsafe { push(there) }).and_then(|()| told(unsafe { pop(&raw mut popped) }))
            });
        }
        "push + pop" => repeat(times, || cx.push(other).map(drop)),
        "peer copy, queued, raw" => {
            let copy = black_box(fns.cuMemcpyPeerAsync);
            let (to, from): (CUdeviceptr, CUdeviceptr) = black_box((mine.as_raw(), theirs.as_raw()));
            repeat(times, || told(unsafe { copy(to, here, from, there, BYTES, CUstream::null()) }));
        }
        "peer copy, queued" => cx
            .scope(&stream, |scope| {
                let lent = scope.lend(mine.as_mut_slice()).unwrap();
                let from = scope.lend(Peer(theirs.as_slice())).unwrap();
                repeat(times, || scope.copy(&lent, &from));
                Ok(())
            })
            .unwrap(),
        "pool alloc + free" => {
            let pool = BufferPool::new(cx);
            repeat(times, || pool.alloc::<u8>(cx, &stream, black_box(1 << 20)).map(drop));
        }
        "pinned pool alloc + free, 512 zeros" => {
            let pool = PinnedPool::new(cx, PinnedFlags::empty());
            repeat(times, || pool.zeroed::<u8>(cx, black_box(512)).map(drop));
        }
        _ => panic!("no such operation: {what}"),
    }
}

fn shared(times: u64, context: Context) {
    let work = |cx: &mut Current<'_, 'static>| {
        let (stream, pool) = (Stream::new(cx).unwrap().share(), BufferPool::new(cx));
        repeat(times, || pool.alloc::<u8>(cx, &stream, black_box(1 << 20)).map(drop));
        Ok(())
    };
    context.share().enter(work).unwrap();
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [what, times] = &arguments[..] else {
        panic!("an operation, and how often; see benches/instructions.sh")
    };
    let times = times.parse().expect("a number");
    // SAFETY: each function takes no more parameters than it is given, and the calling convention
    // leaves the others alone.
    let library = unsafe { Library::from_resolver("nothing", resolve) }.unwrap();
    let driver = Driver::init(library).unwrap();
    let [context, other] =
        [(); 2].map(|()| Context::create(driver.device(0).unwrap(), ContextFlags::empty()).unwrap());
    if what == "shared pool alloc + free" {
        return shared(times, context);
    }
    let mut stack = ContextStack::take().unwrap();
    calls(what, times, driver, &mut stack.push(&context).unwrap(), &other);
}
