//! Cost of an operation in each mode: independent of the number of unfinished operations.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cuprum_sys::*;
use cuprum_testing::clock::process_time;
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::in_child;

/// Calls a driver function that must succeed, from a given table.
macro_rules! quick {
    ($table:ident.$name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the arguments are outputs and objects of the test.
        assert_eq!(unsafe { ($table.$name)($($arg),*) }, CUresult::CUDA_SUCCESS)
    };
}

static CALLED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn note(_: *mut c_void) {
    CALLED.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn note_end(_: CUstream, _: CUresult, _: *mut c_void) {
    CALLED.fetch_add(1, Ordering::Relaxed);
}

struct Things {
    table: &'static Fns,
    memory: CUdeviceptr,
    function: CUfunction,
    graph: CUgraphExec,
    first: CUstream,
    second: CUstream,
}

impl Things {
    fn new() -> Self {
        let text = c".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
        let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
        ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
        ok!(cuModuleGetFunction(&mut function, module, c"k".as_ptr()));
        let (mut graph, mut node, mut exec) = (CUgraph::null(), CUgraphNode::null(), CUgraphExec::null());
        ok!(cuGraphCreate(&mut graph, 0));
        ok!(cuGraphAddEmptyNode(&mut node, graph, null_mut(), 0));
        ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        let (first, second) = (stream(1), stream(1));
        Things { table: fns(), memory: alloc(1 << 16), function, graph: exec, first, second }
    }

    fn fill(&self, stream: CUstream) {
        let table = self.table;
        quick!(table.cuMemsetD8Async(self.memory, 1, 16, stream));
    }

    fn record(&self, stream: CUstream) -> CUevent {
        let (table, mut event) = (self.table, CUevent::null());
        quick!(table.cuEventCreate(&mut event, 0));
        quick!(table.cuEventRecord(event, stream));
        event
    }
}

type Scenario = (&'static str, fn(&Things, usize));

const SCENARIOS: &[Scenario] = &[
    ("fills, events, and waits of another stream", |things, count| {
        let table = things.table;
        for _ in 0..count {
            things.fill(things.first);
            let event = things.record(things.first);
            quick!(table.cuStreamWaitEvent(things.second, event, 0));
            things.fill(things.second);
        }
        quick!(table.cuCtxSynchronize());
    }),
    ("fills, events, and waits of the host", |things, count| {
        let table = things.table;
        for _ in 0..count {
            things.fill(things.first);
            let event = things.record(things.first);
            quick!(table.cuEventSynchronize(event));
        }
    }),
    ("waits for each event of many, from the last", |things, count| {
        let table = things.table;
        let streams: Vec<_> = (0..8).map(|_| stream(1)).collect();
        let events: Vec<_> = (0..count)
            .map(|at| {
                things.fill(streams[at % 8]);
                things.record(streams[at % 8])
            })
            .collect();
        for event in events.iter().rev() {
            quick!(table.cuEventSynchronize(*event));
        }
    }),
    ("queries while much is in flight", |things, count| {
        let table = things.table;
        let events: Vec<_> = (0..count)
            .map(|_| {
                things.fill(things.first);
                things.record(things.first)
            })
            .collect();
        for event in &events {
            // SAFETY: a live event of the test.
            let event = unsafe { (table.cuEventQuery)(*event) };
            // SAFETY: a live stream of the test.
            let stream = unsafe { (table.cuStreamQuery)(things.second) };
            assert!([event, stream].iter().all(|code| [0, 600].contains(&code.0)), "{event:?}, {stream:?}");
        }
        quick!(table.cuCtxSynchronize());
    }),
    ("host functions", |things, count| {
        let table = things.table;
        for _ in 0..count {
            things.fill(things.first);
            quick!(table.cuLaunchHostFunc(things.first, Some(note), null_mut()));
        }
        quick!(table.cuStreamSynchronize(things.first));
    }),
    ("callbacks that nothing waits for", |things, count| {
        let table = things.table;
        let before = CALLED.load(Ordering::Relaxed);
        for at in 0..count {
            things.fill([things.first, things.second][at % 2]);
            quick!(table.cuStreamAddCallback(
                [things.first, things.second][at % 2],
                Some(note_end),
                null_mut(),
                0
            ));
        }
        while CALLED.load(Ordering::Relaxed) < before + count {
            std::thread::sleep(Duration::from_millis(1));
        }
    }),
    ("streams that all follow the default stream", |things, count| {
        let table = things.table;
        let streams: Vec<_> = (0..count).map(|_| stream(0)).collect();
        for round in 0..3 {
            for stream in &streams {
                things.fill(*stream);
            }
            quick!(table.cuMemsetD8Async(things.memory, round, 16, CUstream::null()));
        }
        quick!(table.cuStreamSynchronize(CUstream::null()));
        for stream in streams {
            quick!(table.cuStreamDestroy_v2(stream));
        }
    }),
    ("operations of the default stream after each of another", |things, count| {
        let table = things.table;
        let streams: Vec<_> = (0..64).map(|_| stream(0)).collect();
        for at in 0..count {
            things.fill(streams[at % 64]);
            things.fill(CUstream::null());
        }
        quick!(table.cuCtxSynchronize());
    }),
    ("streams that wait for a value", |things, count| {
        let table = things.table;
        let flag = things.memory + 4096;
        quick!(table.cuMemsetD8_v2(flag, 0, 8));
        // As many in both rounds: each look for work is at the values of all.
        let streams: Vec<_> = (0..count.min(250)).map(|_| stream(1)).collect();
        for stream in &streams {
            quick!(table.cuStreamWaitValue32_v2(*stream, flag, 1, 0));
            for _ in 0..count / streams.len() {
                things.fill(*stream);
            }
        }
        for _ in 0..count {
            things.fill(things.first);
        }
        quick!(table.cuStreamSynchronize(things.first));
        quick!(table.cuStreamWriteValue32_v2(things.first, flag, 1, 0));
        quick!(table.cuCtxSynchronize());
        for stream in streams {
            quick!(table.cuStreamDestroy_v2(stream));
        }
    }),
    ("launches", |things, count| {
        let table = things.table;
        for _ in 0..count {
            quick!(table.cuLaunchKernel(
                things.function,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                things.first,
                null_mut(),
                null_mut()
            ));
        }
        quick!(table.cuStreamSynchronize(things.first));
    }),
    ("launches of graphs", |things, count| {
        let table = things.table;
        for _ in 0..count {
            quick!(table.cuGraphLaunch(things.graph, things.first));
        }
        quick!(table.cuStreamSynchronize(things.first));
    }),
    ("copies of all kinds", |things, count| {
        let table = things.table;
        let mut host = [0u8; 64];
        for _ in 0..count {
            quick!(table.cuMemcpyHtoDAsync_v2(things.memory, host.as_ptr().cast(), 64, things.first));
            quick!(table.cuMemcpyDtoDAsync_v2(things.memory + 64, things.memory, 64, things.first));
            quick!(table.cuMemcpyAsync(things.memory + 128, things.memory, 64, things.first));
        }
        quick!(table.cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), things.memory, 64, things.first));
        quick!(table.cuStreamSynchronize(things.first));
    }),
    ("allocations in the order of a stream", |things, count| {
        let table = things.table;
        let mut addresses = vec![0; count];
        for address in &mut addresses {
            quick!(table.cuMemAllocAsync(address, 64, things.first));
            quick!(table.cuMemsetD8Async(*address, 1, 64, things.first));
        }
        for address in &addresses {
            quick!(table.cuMemFreeAsync(*address, things.first));
        }
        quick!(table.cuStreamSynchronize(things.first));
    }),
    ("allocations while much is in flight", |things, count| {
        let table = things.table;
        for _ in 0..count {
            things.fill(things.first);
        }
        let mut addresses = vec![0; count];
        for address in &mut addresses {
            quick!(table.cuMemAlloc_v2(address, 64));
        }
        for address in &addresses {
            quick!(table.cuMemFree_v2(*address));
        }
    }),
    ("frees, with work in flight before each", |things, count| {
        let table = things.table;
        for _ in 0..count {
            let mut address = 0;
            quick!(table.cuMemAlloc_v2(&mut address, 64));
            quick!(table.cuMemsetD8Async(address, 1, 64, things.first));
            quick!(table.cuMemFree_v2(address));
        }
    }),
    ("streams that a capture forks to and joins", |things, count| {
        let table = things.table;
        let streams: Vec<_> = (0..count).map(|_| stream(1)).collect();
        let (mut graph, relaxed) = (CUgraph::null(), CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED);
        quick!(table.cuStreamBeginCapture_v2(things.first, relaxed));
        let fork = things.record(things.first);
        for stream in &streams {
            quick!(table.cuStreamWaitEvent(*stream, fork, 0));
            things.fill(*stream);
            let join = things.record(*stream);
            quick!(table.cuStreamWaitEvent(things.first, join, 0));
        }
        quick!(table.cuStreamEndCapture(things.first, &mut graph));
        quick!(table.cuGraphDestroy(graph));
        for stream in streams {
            quick!(table.cuStreamDestroy_v2(stream));
        }
    }),
    ("values written and waited for", |things, count| {
        let table = things.table;
        let flag = things.memory + 8192;
        for at in 0..count as u32 {
            quick!(table.cuStreamWriteValue32_v2(things.first, flag, at, 0));
            quick!(table.cuStreamWaitValue32_v2(things.second, flag, at, 0));
        }
        quick!(table.cuCtxSynchronize());
    }),
];

fn time(things: &Things, scenario: fn(&Things, usize), count: usize) -> Duration {
    let start = process_time();
    scenario(things, count);
    process_time().saturating_sub(start)
}

/// Sixteen times as many may take four times as long each; half a second is always allowed.
fn assert_grows_slowly(test: &str, mode: &str) {
    in_child(test, &[("CUPRUM_EMULATOR_MODE", mode)], || {
        let context = TestContext::new();
        let things = Things::new();
        let mut slow = Vec::new();
        for (name, scenario) in SCENARIOS {
            scenario(&things, 10);
            let (few, many) = (time(&things, *scenario, 250), time(&things, *scenario, 4000));
            println!("{mode}, {name}: 250 in {few:?}, 4000 in {many:?}");
            if many > 64 * few.max(Duration::from_millis(8)) {
                slow.push(*name);
            }
        }
        assert!(slow.is_empty(), "{mode}: {slow:?}");
        drop(context);
    });
}

#[test]
fn in_the_eager_mode() {
    assert_grows_slowly("queue::in_the_eager_mode", "eager");
}

#[test]
fn in_the_async_mode() {
    assert_grows_slowly("queue::in_the_async_mode", "async");
}

#[test]
fn in_the_deferred_mode() {
    assert_grows_slowly("queue::in_the_deferred_mode", "deferred");
}

#[test]
fn in_the_shuffled_mode() {
    assert_grows_slowly("queue::in_the_shuffled_mode", "shuffled");
}
