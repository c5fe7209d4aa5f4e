//! Accesses of the program itself to page-locked memory, which are found in the eager mode only.

use crate::Case;
use crate::bench::{BYTES, N};
use core::ffi::c_void;
use core::ptr::null_mut;
use cuprum_testing::driver_calls::*;

fn read(from: *mut c_void) -> u32 {
    let middle = from.cast::<u32>().wrapping_add(N / 2);
    // SAFETY: inside a live block, which the driver lets the host access.
    unsafe { middle.read_volatile() }
}

fn fill(to: *mut c_void) {
    for index in 0..N {
        let place = to.cast::<u32>().wrapping_add(index);
        // SAFETY: inside a live block, which the driver lets the host access.
        unsafe { place.write_volatile(3) };
    }
}

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "the program reads page-locked memory during a copy to it",
        run: |bench, twin| {
            let (x, block) = (bench.memory(), bench.locked());
            bench.put(x, bench.a);
            bench.read(block, x, bench.a);
            if twin {
                ok!(cuStreamSynchronize(bench.a));
            }
            // The program continues with the bytes.
            assert_eq!(read(block), 7);
            bench.end();
            assert_eq!(read(block), 7);
        },
        says: &[
            "page-locked memory goes to its next use while a copy may still be running on it",
            "first: cuMemcpyDtoHAsync",
            "writes\n  second: the host reads\n",
            "bytes 0 to 255 of allocation",
            "let the host wait for stream #",
        ],
    },
    Case {
        name: "the program fills a staging buffer during a copy from it",
        run: |bench, twin| {
            let (x, staging) = (bench.memory(), bench.locked());
            fill(staging);
            bench.write(x, staging, bench.a);
            // Reading is no mistake.
            assert_eq!(read(staging), 3);
            if twin {
                let done = event(2);
                ok!(cuEventRecord(done, bench.a));
                ok!(cuEventSynchronize(done));
            }
            fill(staging);
            bench.end();
        },
        says: &["first: cuMemcpyHtoDAsync", "reads\n  second: the host writes\n"],
    },
    Case {
        name: "the program reads page-locked memory that a kernel writes",
        run: |bench, twin| {
            let (block, mut seen) = (bench.locked(), 0);
            ok!(cuMemHostGetDevicePointer_v2(&mut seen, block, 0));
            bench.put(seen, bench.b);
            if twin {
                ok!(cuCtxSynchronize());
            }
            assert_eq!(read(block), 7);
            bench.end();
        },
        says: &["first: kernel `put` of cuLaunchKernel", "second: the host reads\n"],
    },
    Case {
        name: "a part of a page, and a host function after a copy",
        run: |bench, _| {
            let (x, mut block) = (bench.memory(), null_mut());
            ok!(cuMemAllocHost_v2(&mut block, 2 * BYTES));
            bench.read(block, x, bench.a);
            read(block.wrapping_byte_add(BYTES));
            unsafe extern "C" fn look(block: *mut c_void) {
                read(block);
            }
            let block = bench.locked();
            bench.read(block, x, bench.a);
            ok!(cuLaunchHostFunc(bench.a, Some(look), block));
            bench.end();
        },
        says: &[],
    },
];
