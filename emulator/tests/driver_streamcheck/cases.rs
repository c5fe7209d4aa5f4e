//! Kernels, copies and fills in two streams.

use core::ffi::c_void;

use cuprum_sys::*;

use super::Case;
use super::bench::{BYTES, N};
use cuprum_testing::driver_calls::*;

const DEFAULT: CUstream = CUstream::null();

/// Bytes that the check of the order keeps together.
const PAGE: usize = 1 << 16;

/// Pageable memory for a copy, half of it at the end of a page and half at the start of the next.
fn straddling(pages: &mut [u8]) -> *mut c_void {
    let start = pages.as_mut_ptr();
    let to_border = PAGE - start.addr() % PAGE;
    let offset = if to_border < BYTES / 2 { to_border + PAGE } else { to_border } - BYTES / 2;
    pages[offset..].as_mut_ptr().cast()
}

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "a kernel reads data that another kernel writes",
        run: |bench, twin| {
            let (x, y) = (bench.memory(), bench.memory());
            bench.put(x, bench.a);
            if twin {
                bench.order(bench.a, bench.b);
            }
            bench.take(y, x, bench.b);
            bench.end();
        },
        says: &[
            "two operations touch the same bytes, and nothing orders them",
            "first: kernel `put` of cuLaunchKernel",
            "writes at PTX line 21",
            "second: kernel `take` of cuLaunchKernel",
            "reads at PTX line 40",
            "bytes 0 to 255 of allocation",
            "(256 bytes of device memory, from cuMemAlloc)",
            "cuStreamWaitEvent",
        ],
    },
    Case {
        name: "a copy to the host overtakes the kernel",
        run: |bench, twin| {
            let (x, host) = (bench.memory(), bench.locked());
            bench.put(x, bench.a);
            if twin {
                ok!(cuStreamSynchronize(bench.a));
            }
            bench.read(host, x, bench.b);
            bench.end();
        },
        says: &["first: kernel `put`", "second: cuMemcpyDtoHAsync", "reads\n"],
    },
    Case {
        name: "a kernel does not wait for its input",
        run: |bench, twin| {
            let (x, y, host) = (bench.memory(), bench.memory(), bench.locked());
            bench.write(x, host, bench.a);
            let later = if twin { bench.a } else { bench.b };
            bench.take(y, x, later);
            bench.end();
        },
        says: &["first: cuMemcpyHtoDAsync", "second: kernel `take`", "reads at PTX line 40"],
    },
    Case {
        name: "a fill of memory in use",
        run: |bench, twin| {
            let (x, y) = (bench.memory(), bench.memory());
            bench.take(y, x, bench.a);
            if twin {
                ok!(cuCtxSynchronize());
            }
            ok!(cuMemsetD32Async(x, 1, N, bench.b));
            bench.end();
        },
        says: &["first: kernel `take`", "reads at", "second: cuMemsetD32Async", "writes\n"],
    },
    Case {
        name: "a non-blocking stream relies on the default stream",
        run: |bench, twin| {
            let (x, y) = (bench.memory(), bench.memory());
            let blocking = stream(0);
            bench.put(x, DEFAULT);
            bench.take(y, x, if twin { blocking } else { bench.a });
            bench.end();
        },
        says: &["in the default stream writes", "in stream #", "reads"],
    },
    Case {
        name: "the default stream relies on a non-blocking stream",
        run: |bench, twin| {
            let (x, y) = (bench.memory(), bench.memory());
            let blocking = stream(0);
            bench.put(x, if twin { blocking } else { bench.a });
            bench.take(y, x, DEFAULT);
            bench.end();
        },
        says: &["first: kernel `put`", "in the default stream reads"],
    },
    Case {
        name: "the per-thread default stream is a separate stream",
        run: |bench, twin| {
            let (x, y) = (bench.memory(), bench.memory());
            let blocking = stream(0);
            bench.put(x, CU_STREAM_PER_THREAD);
            if twin {
                // Work in the legacy default stream synchronizes with both.
                bench.take(y, x, DEFAULT);
            }
            bench.put(x, blocking);
            bench.end();
        },
        says: &["in the default stream of a thread writes", "second: kernel `put`"],
    },
    Case {
        name: "an event that is recorded too early",
        run: |bench, twin| {
            let (x, y, event) = (bench.memory(), bench.memory(), event(2));
            if !twin {
                ok!(cuEventRecord(event, bench.a));
            }
            bench.put(x, bench.a);
            if twin {
                ok!(cuEventRecord(event, bench.a));
            }
            ok!(cuStreamWaitEvent(bench.b, event, 0));
            bench.take(y, x, bench.b);
            bench.end();
        },
        says: &["first: kernel `put`", "second: kernel `take`"],
    },
    Case {
        name: "a wait for an event before its record",
        run: |bench, twin| {
            let (x, y, event) = (bench.memory(), bench.memory(), event(2));
            bench.put(x, bench.a);
            if twin {
                ok!(cuEventRecord(event, bench.a));
            }
            ok!(cuStreamWaitEvent(bench.b, event, 0));
            if !twin {
                ok!(cuEventRecord(event, bench.a));
            }
            bench.take(y, x, bench.b);
            bench.end();
        },
        says: &["first: kernel `put`", "second: kernel `take`"],
    },
    Case {
        name: "a wait of the host for the wrong event",
        run: |bench, twin| {
            let (x, host) = (bench.memory(), bench.locked());
            let (early, late) = (event(2), event(2));
            ok!(cuEventRecord(early, bench.a));
            bench.put(x, bench.a);
            ok!(cuEventRecord(late, bench.a));
            ok!(cuEventSynchronize(if twin { late } else { early }));
            bench.read(host, x, bench.b);
            bench.end();
        },
        says: &["first: kernel `put`", "second: cuMemcpyDtoHAsync"],
    },
    Case {
        name: "a page-locked block gets a new owner during a copy",
        run: |bench, twin| {
            let (x, y, block, read) = (bench.memory(), bench.memory(), bench.locked(), event(2));
            // The first owner drops its read without waiting for it.
            bench.read(block, x, bench.a);
            ok!(cuEventRecord(read, bench.a));
            if twin {
                ok!(cuEventSynchronize(read));
            }
            // The next owner fills the block and sends it.
            bench.write(y, block, bench.b);
            bench.end();
        },
        says: &[
            "page-locked memory goes to its next use while a copy may still be running on it",
            "first: cuMemcpyDtoHAsync",
            "writes\n",
            "second: cuMemcpyHtoDAsync",
            "of pinned host memory, from cuMemAllocHost",
        ],
    },
    Case {
        name: "a staging buffer is filled again too early",
        run: |bench, twin| {
            let (x, y, staging) = (bench.memory(), bench.memory(), bench.locked());
            bench.write(x, staging, bench.a);
            if twin {
                bench.order(bench.a, bench.b);
            }
            bench.read(staging, y, bench.b);
            bench.end();
        },
        says: &["page-locked memory", "first: cuMemcpyHtoDAsync", "second: cuMemcpyDtoHAsync"],
    },
    Case {
        name: "a synchronous copy from pageable memory is incomplete when it returns",
        run: |bench, twin| {
            let (x, y) = (bench.memory(), bench.memory());
            write(x, &[1u32; N]);
            if twin {
                ok!(cuStreamSynchronize(DEFAULT));
            }
            bench.take(y, x, bench.a);
            bench.end();
        },
        says: &["first: cuMemcpyHtoD (operation", "in the default stream writes", "second: kernel `take`"],
    },
    Case {
        name: "a synchronous copy on the device is not waited for",
        run: |bench, twin| {
            let (x, y, z) = (bench.memory(), bench.memory(), bench.memory());
            ok!(cuMemcpyDtoD_v2(y, x, BYTES));
            if twin {
                ok!(cuStreamSynchronize(DEFAULT));
            }
            bench.take(z, y, bench.a);
            bench.end();
        },
        says: &["first: cuMemcpyDtoD", "second: kernel `take`"],
    },
    Case {
        name: "a synchronous fill is not waited for",
        run: |bench, twin| {
            let (x, y) = (bench.memory(), bench.memory());
            ok!(cuMemsetD32_v2(x, 1, N));
            bench.take(y, x, if twin { DEFAULT } else { bench.a });
            bench.end();
        },
        says: &["first: cuMemsetD32", "second: kernel `take`"],
    },
    Case {
        name: "two kernels overlap by one element",
        run: |bench, twin| {
            let x = alloc(2 * BYTES);
            bench.put(x, bench.a);
            bench.put(x + BYTES as u64 - if twin { 0 } else { 4 }, bench.b);
            bench.end();
        },
        says: &["bytes 252 to 255 of allocation", "(512 bytes of device memory"],
    },
    Case {
        name: "two strided kernels overlap in one column",
        run: |bench, twin| {
            let x = alloc(2 * BYTES);
            bench.put_some(x, (32, 4), bench.a);
            bench.put_some(x + if twin { 4 } else { 16 }, (31, 4), bench.b);
            bench.end();
        },
        says: &["bytes 16 to 19 of allocation"],
    },
    Case {
        name: "a plain read concurrent with atomic additions",
        run: |bench, twin| {
            let (x, y) = (bench.memory(), bench.memory());
            bench.count(x, bench.a);
            bench.count(x, bench.b);
            if twin {
                bench.order(bench.b, bench.a);
            }
            bench.take(y, x, bench.a);
            bench.end();
        },
        says: &["first: kernel `count`", "writes at PTX line 52", "second: kernel `take`"],
    },
    Case {
        name: "a strided copy reads bytes that a strided kernel writes",
        run: |bench, twin| {
            let (x, host) = (bench.memory(), bench.locked());
            let rows = |from: u64| CUDA_MEMCPY2D {
                srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
                srcDevice: from,
                srcPitch: 32,
                dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
                dstHost: host,
                dstPitch: 16,
                WidthInBytes: 16,
                Height: 4,
                ..CUDA_MEMCPY2D::zeroed()
            };
            ok!(cuMemcpy2DAsync_v2(&rows(x), bench.a));
            // The columns next to those that are read.
            bench.put_some(x + if twin { 16 } else { 12 }, (4, 8), bench.b);
            bench.end();
        },
        says: &["first: cuMemcpy2DAsync", "bytes 12 to 15 of allocation"],
    },
    Case {
        name: "two copies to one pageable buffer",
        run: |bench, twin| {
            let (x, y, mut host) = (bench.memory(), bench.memory(), vec![0u8; 2 * PAGE]);
            let host = straddling(&mut host);
            bench.read(host, x, bench.a);
            if twin {
                ok!(cuStreamSynchronize(bench.a));
            }
            bench.read(host, y, bench.b);
            bench.end();
        },
        says: &["256 bytes of pageable host memory at", "second: cuMemcpyDtoHAsync"],
    },
    Case {
        name: "the host sends a pageable buffer while a copy still writes to it",
        run: |bench, twin| {
            let (x, y, mut host) = (bench.memory(), bench.memory(), vec![0u8; 2 * PAGE]);
            let host = straddling(&mut host);
            bench.read(host, x, bench.a);
            if twin {
                ok!(cuStreamSynchronize(bench.a));
            }
            bench.write(y, host, bench.a);
            bench.end();
        },
        says: &["second: cuMemcpyHtoDAsync in the host reads", "pageable host memory"],
    },
];
