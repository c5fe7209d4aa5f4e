//! Freed memory, pools, graphs, values in memory, contexts, synchronization unknown to the driver.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, Ordering};

use cuprum_sys::*;

use super::Case;
use super::bench::{BYTES, Bench};
use cuprum_testing::driver_calls::*;

fn pool_memory(stream: CUstream) -> CUdeviceptr {
    let mut memory = 0;
    ok!(cuMemAllocAsync(&mut memory, BYTES, stream));
    memory
}

/// Frees memory that a copy may still use. The call returns the error of a copy that is late.
fn free_in_use(memory: CUdeviceptr) {
    let result = code!(cuMemFree_v2(memory));
    let late = CUresult::CUDA_ERROR_LAUNCH_FAILED;
    assert!(result == CUresult::CUDA_SUCCESS || result == late, "{result:?}");
}

/// Returns a graph of two kernels that write the same memory.
fn two_writers(bench: &Bench, memory: CUdeviceptr, ordered: bool) -> CUgraphExec {
    let capture = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    ok!(cuStreamBeginCapture_v2(bench.a, capture));
    bench.order(bench.a, bench.b);
    bench.put(memory, bench.a);
    if ordered {
        bench.order(bench.a, bench.b);
    }
    bench.put(memory, bench.b);
    bench.order(bench.b, bench.a);
    let (mut graph, mut exec) = (CUgraph::null(), CUgraphExec::null());
    ok!(cuStreamEndCapture(bench.a, &mut graph));
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "pool memory is freed in one stream while another uses it",
        run: |bench, twin| {
            let (x, host) = (pool_memory(bench.a), bench.locked());
            bench.order(bench.a, bench.b);
            bench.read(host, x, bench.b);
            if twin {
                bench.order(bench.b, bench.a);
            }
            ok!(cuMemFreeAsync(x, bench.a));
            bench.end();
        },
        says: &[
            "memory is freed while an operation may still use it",
            "first: cuMemcpyDtoHAsync",
            "second: cuMemFreeAsync",
            "of pool memory, from cuMemAllocAsync",
        ],
    },
    Case {
        name: "pool memory is used in another stream before its allocation",
        run: |bench, twin| {
            let x = pool_memory(bench.a);
            if twin {
                bench.order(bench.a, bench.b);
            }
            ok!(cuMemsetD8Async(x, 0, BYTES, bench.b));
            bench.end();
            ok!(cuMemFreeAsync(x, bench.b));
            bench.end();
        },
        says: &["pool memory is used in another stream before its allocation", "first: cuMemAllocAsync"],
    },
    Case {
        name: "pool memory is freed immediately while in use",
        run: |bench, twin| {
            // The context gets a sticky error if the copy is late.
            let (host, other) = (bench.locked(), TestContext::new());
            let apart = stream(CUstream_flags::CU_STREAM_NON_BLOCKING.0);
            let x = pool_memory(apart);
            bench.read(host, x, apart);
            if twin {
                ok!(cuStreamSynchronize(apart));
            }
            free_in_use(x);
            let _ = code!(cuCtxSynchronize());
            drop(other);
        },
        says: &["memory is freed while an operation may still use it", "second: cuMemFree in the host frees"],
    },
    Case {
        name: "memory is freed while another context uses it",
        run: |bench, twin| {
            let (x, host) = (bench.memory(), bench.locked());
            let other = TestContext::new();
            let apart = stream(CUstream_flags::CU_STREAM_NON_BLOCKING.0);
            bench.read(host, x, apart);
            if twin {
                ok!(cuStreamSynchronize(apart));
            }
            free_in_use(x);
            let _ = code!(cuCtxSynchronize());
            drop(other);
        },
        says: &["memory is freed while", "first: cuMemcpyDtoHAsync", "second: cuMemFree in the host frees"],
    },
    Case {
        name: "two nodes of a graph write the same memory",
        run: |bench, twin| {
            let x = bench.memory();
            let exec = two_writers(bench, x, twin);
            ok!(cuGraphLaunch(exec, bench.a));
            bench.end();
        },
        says: &["first: kernel `put` of cuGraphLaunch", "make the second node depend on the first"],
    },
    Case {
        name: "nothing waits for a graph",
        run: |bench, twin| {
            let (x, y) = (bench.memory(), bench.memory());
            let exec = two_writers(bench, x, true);
            ok!(cuGraphLaunch(exec, bench.a));
            if twin {
                bench.order(bench.a, bench.b);
            }
            bench.take(y, x, bench.b);
            bench.end();
        },
        says: &["first: kernel `put` of cuGraphLaunch", "second: kernel `take` of cuLaunchKernel"],
    },
    Case {
        name: "a value is written before the data",
        run: |bench, twin| {
            let (x, y, flag) = (bench.memory(), bench.memory(), bench.memory());
            if twin {
                bench.put(x, bench.a);
            }
            ok!(cuStreamWriteValue32_v2(bench.a, flag, 1, 0));
            if !twin {
                bench.put(x, bench.a);
            }
            ok!(cuStreamWaitValue32_v2(bench.b, flag, 1, 0));
            bench.take(y, x, bench.b);
            bench.end();
        },
        says: &["first: kernel `put`", "second: kernel `take`"],
    },
    Case {
        name: "a value is waited for before it is written",
        run: |bench, twin| {
            let (x, y, flag) = (bench.memory(), bench.memory(), bench.memory());
            ok!(cuStreamWaitValue32_v2(bench.b, flag, 2, 0));
            bench.take(y, x, bench.b);
            ok!(cuStreamWriteValue32_v2(bench.a, flag, 1, 0));
            if twin {
                bench.put(x, bench.a);
            }
            ok!(cuStreamWriteValue32_v2(bench.a, flag, 2, 0));
            if !twin {
                bench.put(x, bench.a);
            }
            bench.end();
        },
        says: &["first: kernel `take`", "second: kernel `put`"],
    },
    Case {
        name: "a peer's copy is not waited for",
        run: |bench, twin| {
            let (own, x, y) = (current(), bench.memory(), bench.memory());
            let other = TestContext::new();
            let theirs = alloc(BYTES);
            ok!(cuMemcpyPeerAsync(x, own, theirs, other.0, BYTES, CUstream::null()));
            if twin {
                ok!(cuStreamSynchronize(CUstream::null()));
            }
            let mut popped = CUcontext::null();
            ok!(cuCtxPopCurrent_v2(&mut popped));
            bench.take(y, x, bench.a);
            bench.end();
            ok!(cuCtxPushCurrent_v2(popped));
            ok!(cuCtxSynchronize());
            drop(other);
        },
        says: &["first: cuMemcpyPeerAsync", "second: kernel `take`"],
    },
    Case {
        name: "a host function notifies the host",
        run: |bench, _| {
            static TOLD: AtomicBool = AtomicBool::new(false);
            unsafe extern "C" fn tell(_: *mut c_void) {
                TOLD.store(true, Ordering::SeqCst);
            }
            let (x, y) = (bench.memory(), bench.memory());
            bench.put(x, bench.a);
            ok!(cuLaunchHostFunc(bench.a, Some(tell), null_mut()));
            while !TOLD.load(Ordering::SeqCst) {
                std::thread::sleep(core::time::Duration::from_millis(1));
                let _ = code!(cuEventQuery(CUevent::null()));
            }
            bench.take(y, x, bench.b);
            bench.end();
        },
        says: &[],
    },
    Case {
        name: "two streams count atomically in the same place",
        run: |bench, _| {
            let x = bench.memory();
            bench.count(x, bench.a);
            bench.count(x, bench.b);
            bench.count(x, bench.a);
            bench.end();
        },
        says: &[],
    },
    Case {
        name: "a query reports that all work is complete",
        run: |bench, _| {
            let (x, y) = (bench.memory(), bench.memory());
            bench.put(x, bench.a);
            if code!(cuStreamQuery(bench.a)) != CUresult::CUDA_SUCCESS {
                ok!(cuStreamSynchronize(bench.a));
            }
            bench.take(y, x, bench.b);
            bench.end();
        },
        says: &[],
    },
    Case {
        name: "a kernel polls the wrong flag before it reads another kernel's data",
        run: |bench, twin| {
            let (x, y, flag, other) = (bench.memory(), bench.memory(), bench.memory(), bench.memory());
            bench.publish(x, flag, bench.a);
            bench.subscribe(y, x, if twin { flag } else { other }, bench.b);
            bench.end();
            // Only a flag that both use orders them.
            ok!(cuMemsetD32_v2(other, 1, 1));
            bench.end();
            bench.publish(x, flag, bench.a);
            bench.subscribe(y, x, if twin { flag } else { other }, bench.b);
            bench.end();
        },
        says: &["first: kernel `publish`", "second: kernel `subscribe`"],
    },
    Case {
        name: "a kernel that waits for another kernel is not blamed too early",
        run: |bench, _| {
            let (x, y, flag) = (bench.memory(), bench.memory(), bench.memory());
            ok!(cuMemsetD32_v2(flag, 1, 1));
            bench.end();
            // This one may see the flag only after the second write, which follows the fill.
            bench.subscribe(y, x, flag, bench.b);
            ok!(cuMemsetD32Async(x, 1, 1, bench.a));
            bench.publish(x, flag, bench.a);
            bench.end();
        },
        says: &[],
    },
    Case {
        name: "two streams read",
        run: |bench, _| {
            let (x, y, z) = (bench.memory(), bench.memory(), bench.memory());
            bench.take(y, x, bench.a);
            bench.take(z, x, bench.b);
            let mut host = [0u8; BYTES];
            ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), x, BYTES));
            assert!(!core::ptr::eq(host.as_ptr(), null()));
            bench.end();
        },
        says: &[],
    },
];
