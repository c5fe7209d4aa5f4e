//! Cost of one step while n things are alive, or n deep: a column that grows with n is a mistake.
//!
//! `cargo bench -p cuprum-emulator --bench growth`; `tests/growth/engine.rs` asserts the same with
//! generous factors.

use cuprum_engine::exec::{ExecOptions, LaunchArgs, NoHooks, launch};
use cuprum_engine::memory::{Memory, Request};
use cuprum_ptx::program::{LoadOptions, Program};
use cuprum_sys::{CUcontext, CUfunction, CUgraph, CUmodule, CUresult, CUstream};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::fmt::Write;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The numbers of things.
const SIZES: [usize; 4] = [100, 1000, 10_000, 100_000];

fn main() {
    println!("| what | {} |", SIZES.map(|size| size.to_string()).join(" | "));
    println!("| --- |{}", " ---: |".repeat(SIZES.len()));
    row("allocate, take a snapshot, find, free: ns each", allocation);
    row("the same once all addresses were used: ns each", allocation_again);
    row("end a context of three allocations: ns each", context);
    row("load a kernel and launch it first: ns per instruction", first_launch);
    row("launch 256 threads of a kernel of so many registers, two of them alive at once: KiB", registers);
    row("call a function that calls itself so deep, at most 9000: ns per call", recursion);
    row("print so often: ns per call", printing);
    row("capture so many operations to a graph: ns each", capture);
}

fn row(what: &str, run: impl Fn(usize) -> f64) {
    println!("| {what} | {} |", SIZES.map(|size| format!("{:.0}", run(size))).join(" | "));
}

fn each(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e9 / count as f64
}

fn allocate(memory: &Memory, context: u64, count: usize) {
    for _ in 0..count {
        memory.alloc(&Request::device(512, context, 0)).expect("room for small allocations");
    }
}

fn allocation(alive: usize) -> f64 {
    const TURNS: usize = 10_000;
    let memory = Memory::new(1, 1 << 40, false);
    allocate(&memory, 1, alive);
    let start = Instant::now();
    for _ in 0..TURNS {
        let region = memory.alloc(&Request::device(512, 1, 0)).expect("room for one more");
        assert!(memory.snapshot().find(region.base).is_some());
        memory.free(region.base).expect("what was just allocated");
    }
    each(start.elapsed(), TURNS)
}

fn allocation_again(alive: usize) -> f64 {
    const TURNS: usize = 10_000;
    let memory = Memory::new(1, 1 << 41, false);
    allocate(&memory, 1, alive);
    let last = memory.alloc(&Request::device(512, 1, 0)).expect("room for one more").base;
    for bytes in (9..40).rev().map(|shift| 1 << shift) {
        while memory.reserve(bytes, 512).is_ok() {}
    }
    memory.free(last).expect("what was just allocated");
    let start = Instant::now();
    for _ in 0..TURNS {
        let region = memory.alloc(&Request::device(512, 1, 0)).expect("the gap that was left");
        memory.free(region.base).expect("what was just allocated");
    }
    each(start.elapsed(), TURNS)
}

fn context(alive: usize) -> f64 {
    const TURNS: usize = 10_000;
    let memory = Memory::new(1, 1 << 40, false);
    allocate(&memory, 1, alive);
    let start = Instant::now();
    for _ in 0..TURNS {
        allocate(&memory, 2, 3);
        assert_eq!(memory.free_context(2), 3);
    }
    each(start.elapsed(), TURNS)
}

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn run(text: &str, params: &[u8]) {
    let program = Program::load(text, &LoadOptions::default()).expect("PTX of this file");
    let memory = Memory::new(1, 1 << 20, false);
    launch(&args(&program, params), &memory.snapshot(), &ExecOptions::default(), &NoHooks)
        .expect("a launch without faults");
}

/// One warp of the kernel `k`.
fn args<'a>(program: &'a Program, params: &'a [u8]) -> LaunchArgs<'a> {
    LaunchArgs {
        kernel: program.kernel("k").expect("the kernel of this file"),
        globals: &[],
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared: 0,
        params,
        cluster: None,
        cooperative: false,
        grid_workspace: 0,
    }
}

fn first_launch(instructions: usize) -> f64 {
    let mut text = format!(
        "{HEADER}.visible .entry k()\n{{\n.reg .b32 %r<{}>;\nmov.u32 %r0, %tid.x;\n",
        instructions + 1
    );
    for index in 1..=instructions {
        writeln!(text, "add.u32 %r{index}, %r{}, %r0;", index - 1).expect("text in memory");
    }
    let text = text + "ret;\n}\n";
    let start = Instant::now();
    run(&text, &[]);
    each(start.elapsed(), instructions)
}

/// The most bytes that the first launch takes, including the translation of the kernel for the
/// vector mode.
fn registers(count: usize) -> f64 {
    let mut text =
        format!("{HEADER}.visible .entry k()\n{{\n.reg .b32 %r<{}>;\nmov.u32 %r0, %tid.x;\n", count + 1);
    for index in 1..=count {
        writeln!(text, "add.u32 %r{index}, %r{}, %r0;", index - 1).expect("text in memory");
    }
    let text = text + "ret;\n}\n";
    let program = Program::load(&text, &LoadOptions::default()).expect("PTX of this file");
    let args = LaunchArgs { block: [256, 1, 1], ..args(&program, &[]) };
    let memory = Memory::new(1, 1 << 20, false);
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    launch(&args, &memory.snapshot(), &ExecOptions::default(), &NoHooks).expect("a launch without faults");
    (MOST.load(Relaxed) - before) as f64 / 1024.0
}

/// Bytes that are allocated, and the most that were.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which counts.
struct Counting;

// SAFETY: the system's allocator does the work; the numbers change nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller keeps the promises that the system's allocator needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the promises that the system's allocator needs.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The kernel prints nothing, but each call is a record of the driver's buffer, which holds 270 336
/// of them.
fn printing(count: usize) -> f64 {
    let text = format!(
        "{HEADER}.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n\
         .global .align 1 .b8 format[1] = {{0}};\n.visible .entry k(.param .u32 count)\n{{\n.reg .pred %p;\n\
         .reg .b32 %r<3>;\n.reg .b64 %f;\nld.param.u32 %r1, [count];\nmov.u64 %f, format;\n\
         cvta.global.u64 %f, %f;\nmov.u32 %r0, 0;\nL:\n{{ .param .b64 f; .param .b64 v; .param .b32 r;\n\
         st.param.b64 [f], %f; st.param.b64 [v], %f; call.uni (r), vprintf, (f, v); }}\n\
         add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p, %r0, %r1;\n@%p bra L;\nret;\n}}\n\0"
    );
    let library = cuprum_emulator::library();
    assert_eq!(library.init(), CUresult::CUDA_SUCCESS);
    let (mut context, mut module, mut function) = (CUcontext::null(), CUmodule::null(), CUfunction::null());
    // SAFETY: a place for the handle.
    must(unsafe { (library.fns().cuCtxCreate_v2)(&mut context, 0, 0) });
    // SAFETY: a place for the handle, and PTX that ends with a zero.
    must(unsafe { (library.fns().cuModuleLoadData)(&mut module, text.as_ptr().cast()) });
    // SAFETY: a place for the handle, a module of the current context and a name.
    must(unsafe { (library.fns().cuModuleGetFunction)(&mut function, module, c"k".as_ptr()) });
    let mut count = count as u32;
    let mut args: [*mut c_void; 1] = [(&raw mut count).cast()];
    let (none, stream) = (null_mut(), CUstream::null());
    let start = Instant::now();
    // SAFETY: a kernel with one parameter of four bytes, which is there until the call returns.
    must(unsafe {
        (library.fns().cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, stream, args.as_mut_ptr(), none)
    });
    // SAFETY: a call without arguments.
    must(unsafe { (library.fns().cuCtxSynchronize)() });
    let elapsed = start.elapsed();
    // SAFETY: the context was made above, and no other code uses it.
    must(unsafe { (library.fns().cuCtxDestroy_v2)(context) });
    each(elapsed, count as usize)
}

fn capture(count: usize) -> f64 {
    let library = cuprum_emulator::library();
    assert_eq!(library.init(), CUresult::CUDA_SUCCESS);
    let (mut context, mut stream, mut graph) = (CUcontext::null(), CUstream::null(), CUgraph::null());
    // SAFETY: a place for the handle.
    must(unsafe { (library.fns().cuCtxCreate_v2)(&mut context, 0, 0) });
    // SAFETY: a place for the handle.
    must(unsafe { (library.fns().cuStreamCreate)(&mut stream, 1) });
    let mut target = 0;
    // SAFETY: a place for the address.
    must(unsafe { (library.fns().cuMemAlloc_v2)(&mut target, 16) });
    let start = Instant::now();
    // SAFETY: a stream that captures nothing yet.
    must(unsafe { (library.fns().cuStreamBeginCapture)(stream) });
    for _ in 0..count {
        // SAFETY: a fill of memory that is there as long as the graph.
        must(unsafe { (library.fns().cuMemsetD8Async)(target, 0, 16, stream) });
    }
    // SAFETY: a stream that captures, and a place for the handle.
    must(unsafe { (library.fns().cuStreamEndCapture)(stream, &mut graph) });
    // SAFETY: no other code knows the graph.
    must(unsafe { (library.fns().cuGraphDestroy)(graph) });
    let elapsed = start.elapsed();
    // SAFETY: the context was made above, and no other code uses it.
    must(unsafe { (library.fns().cuCtxDestroy_v2)(context) });
    each(elapsed, count)
}

fn must(result: CUresult) {
    assert_eq!(result, CUresult::CUDA_SUCCESS);
}

fn recursion(depth: usize) -> f64 {
    let depth = depth.min(9000);
    let text = format!(
        "{HEADER}.func deep(.param .b32 depth)\n{{\n.reg .pred %p;\n.reg .b32 %r;\nld.param.u32 %r, [depth];\n\
         setp.eq.u32 %p, %r, 0;\n@%p ret;\nsub.u32 %r, %r, 1;\n.param .b32 a;\nst.param.b32 [a], %r;\n\
         call deep, (a);\nret;\n}}\n.visible .entry k(.param .u32 depth)\n{{\n.reg .b32 %r;\n.param .b32 a;\n\
         ld.param.u32 %r, [depth];\nst.param.b32 [a], %r;\ncall deep, (a);\nret;\n}}\n"
    );
    let start = Instant::now();
    run(&text, &(depth as u32).to_le_bytes());
    each(start.elapsed(), depth)
}
