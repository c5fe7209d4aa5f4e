//! Costs of driver calls with many live objects: no more than with few.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use std::time::Duration;

use cuprum_sys::*;
use cuprum_testing::clock::Start;
use cuprum_testing::driver_calls::*;

/// Calls a driver function that must succeed, from a table: the lookup takes longer than calls.
macro_rules! quick {
    ($table:ident.$name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the arguments are outputs and objects of the test.
        assert_eq!(unsafe { ($table.$name)($($arg),*) }, CUresult::CUDA_SUCCESS)
    };
}

/// Creates this many allocations and events.
fn make(table: &Fns, count: usize) {
    for _ in 0..count {
        let (mut pointer, mut event) = (0, CUevent::null());
        quick!(table.cuMemAlloc_v2(&mut pointer, 512));
        quick!(table.cuEventCreate(&mut event, 0));
    }
}

fn contexts(table: &Fns, count: usize) -> Duration {
    let start = Start::now();
    for _ in 0..count {
        let context = TestContext::new();
        make(table, 1);
        drop(context);
    }
    start.elapsed()
}

#[test]
fn a_context_ends_without_a_look_at_what_others_hold() {
    let table = fns();
    let few = contexts(table, 300);
    let _context = TestContext::new();
    make(table, 100_000);
    let many = contexts(table, 300);
    println!("300 contexts: {few:?}, among 200 000 things {many:?}");
    assert!(many <= 16 * few.max(Duration::from_millis(10)), "{few:?}, {many:?}");
}

/// Launches a kernel that does nothing, each time with an allocation that is freed afterwards.
fn launches(table: &Fns, function: CUfunction, count: usize) -> Duration {
    let start = Start::now();
    for _ in 0..count {
        let mut pointer = 0;
        quick!(table.cuMemAlloc_v2(&mut pointer, 512));
        launch(table, function, &mut []);
        quick!(table.cuMemFree_v2(pointer));
    }
    start.elapsed()
}

fn launch(table: &Fns, function: CUfunction, args: &mut [*mut c_void]) {
    let stream = CUstream::null();
    quick!(table.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, args.as_mut_ptr(), null_mut()));
}

fn function(text: &CStr) -> CUfunction {
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut function, module, c"k".as_ptr()));
    function
}

#[test]
fn a_launch_after_an_allocation_costs_the_same_however_much_is_alive() {
    let _context = TestContext::new();
    let function = function(c".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n");
    let table = fns();
    launches(table, function, 1000);
    let few = launches(table, function, 1000);
    make(table, 100_000);
    let many = launches(table, function, 1000);
    println!("1000 launches: {few:?}, among 200 000 things {many:?}");
    assert!(many <= 16 * few.max(Duration::from_millis(10)), "{few:?}, {many:?}");
}

/// Prints an empty text as often as its parameter says; each call adds a record to the buffer.
const PRINTS: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 format[1] = {0};
.visible .entry k(.param .u32 count) { .reg .pred %more; .reg .b32 %r<3>; .reg .b64 %f;
ld.param.u32 %r1, [count]; mov.u64 %f, format; cvta.global.u64 %f, %f; mov.u32 %r0, 0;
AGAIN: { .param .b64 f; .param .b64 v; .param .b32 result; st.param.b64 [f], %f; st.param.b64 [v], %f;
call.uni (result), vprintf, (f, v); ld.param.b32 %r2, [result]; }
add.u32 %r0, %r0, 1; setp.lt.u32 %more, %r0, %r1; @%more bra AGAIN; ret; }\n";

#[test]
fn a_flood_of_lines_takes_linear_time() {
    let _context = TestContext::new();
    let function = function(PRINTS);
    let time = |mut count: u32| {
        let start = Start::now();
        launch(fns(), function, &mut [(&raw mut count).cast()]);
        ok!(cuCtxSynchronize());
        start.elapsed()
    };
    // As many as the buffer holds, and more.
    let (fits, flood) = (time(1 << 15), time(1 << 19));
    println!("32 768 lines: {fits:?}, 524 288 lines: {flood:?}");
    assert!(flood <= 64 * fits.max(Duration::from_millis(5)), "{fits:?}, {flood:?}");
}

/// Finds each function and variable of a module with this many kernels.
fn find_all(table: &Fns, count: usize) -> Duration {
    let mut text = String::from(".version 7.8\n.target sm_75\n.address_size 64\n");
    for at in 0..count {
        text += &format!(".visible .global .u32 v{at};\n.visible .entry k{at}() {{ ret; }}\n");
    }
    let text = std::ffi::CString::new(text).unwrap();
    let name = |kind: char, at: usize| std::ffi::CString::new(format!("{kind}{at}")).unwrap();
    let names: Vec<_> = (0..count).map(|at| (name('k', at), name('v', at))).collect();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    let start = Start::now();
    for (kernel, variable) in &names {
        let (mut function, mut address, mut bytes) = (CUfunction::null(), 0, 0);
        quick!(table.cuModuleGetFunction(&mut function, module, kernel.as_ptr()));
        quick!(table.cuModuleGetGlobal_v2(&mut address, &mut bytes, module, variable.as_ptr()));
        assert_eq!(bytes, 4);
    }
    let elapsed = start.elapsed();
    ok!(cuModuleUnload(module));
    elapsed
}

#[test]
fn names_are_found_without_a_look_at_the_others() {
    let table = fns();
    let _context = TestContext::new();
    let best = |count| (0..3).map(|_| find_all(table, count)).min().unwrap();
    let (few, many) = (best(500), best(8000));
    println!("500 names: {few:?}, 8000 names: {many:?}");
    assert!(many <= 64 * few.max(Duration::from_millis(1)), "{few:?}, {many:?}");
}

/// Captures this many operations on one stream, and removes every second node of a fan.
fn graphs(table: &Fns, count: usize) -> Duration {
    let stream = stream(1);
    let target = alloc(16);
    let start = Start::now();
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED));
    for _ in 0..count {
        quick!(table.cuMemsetD8Async(target, 0, 16, stream));
    }
    let mut graph = CUgraph::null();
    ok!(cuStreamEndCapture(stream, &mut graph));
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphCreate(&mut graph, 0));
    let (mut root, mut end) = (CUgraphNode::null(), CUgraphNode::null());
    ok!(cuGraphAddEmptyNode(&mut root, graph, null_mut(), 0));
    let mut fan = vec![CUgraphNode::null(); count];
    for node in &mut fan {
        quick!(table.cuGraphAddEmptyNode(node, graph, &root, 1));
    }
    ok!(cuGraphAddEmptyNode(&mut end, graph, fan.as_ptr(), count));
    for node in fan.iter().step_by(2) {
        quick!(table.cuGraphDestroyNode(*node));
    }
    let mut left = 0;
    ok!(cuGraphNodeGetDependencies(end, null_mut(), &mut left));
    assert_eq!(left, count / 2);
    ok!(cuGraphDestroy(graph));
    let elapsed = start.elapsed();
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(target));
    elapsed
}

#[test]
fn a_node_costs_the_same_however_many_a_graph_has() {
    let _context = TestContext::new();
    let best = |count| (0..3).map(|_| graphs(fns(), count)).min().unwrap();
    let (small, large) = (best(1000), best(32_000));
    println!("1000 nodes: {small:?}, 32 000 nodes: {large:?}");
    assert!(large <= 128 * small.max(Duration::from_millis(2)), "{small:?}, {large:?}");
}
