//! Machine code whose functions the system places far apart.

use crate::control::{kernel, load};
use crate::device::{Args, MODES};
use cuprum_testing::processes::in_child;
use std::ffi::c_void;
use std::ptr::null_mut;

unsafe extern "C" {
    fn mmap(at: *mut c_void, bytes: usize, access: i32, flags: i32, file: i32, offset: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, bytes: usize) -> i32;
}

const PAGE: usize = 4096;

/// Takes addresses without memory.
fn reserve(bytes: usize) -> *mut c_void {
    const PRIVATE: i32 = 0x02;
    const ANONYMOUS: i32 = 0x20;
    const NO_RESERVE: i32 = 0x4000;
    // SAFETY: a new mapping without access overlaps nothing.
    let at = unsafe { mmap(null_mut(), bytes, 0, PRIVATE | ANONYMOUS | NO_RESERVE, -1, 0) };
    assert_ne!(at.addr(), usize::MAX, "the system gives no addresses");
    at
}

fn release(at: *mut c_void, bytes: usize) {
    // SAFETY: `reserve` returned these addresses, and nothing uses them.
    let code = unsafe { munmap(at, bytes) };
    assert_eq!(code, 0);
}

#[test]
fn a_kernel_runs_whose_code_is_in_two_distant_places() {
    let test = "far_apart::a_kernel_runs_whose_code_is_in_two_distant_places";
    // Other tests would find their memory among the gaps.
    in_child(test, &[], run_far_apart);
}

/// A program with much memory has gaps for a page at one place, and room for more far below: this
/// function leaves a gap of one page above 3 GiB that are taken, and fills the larger gaps.
fn run_far_apart() {
    const DISTANCE: usize = 3 << 30;
    const FILLER: usize = 2 * PAGE;
    let load_words = "ld.param.u64 %x1, [out]; ld.global.u32 %w1, [%x1]; mad.lo.u32 %d, %w1, 3, %d;";
    // More than two pages of code.
    let text = kernel(&format!("{} add.u32 %d, %d, %t;", load_words.repeat(200)));
    let block = reserve(DISTANCE + PAGE);
    let mut fillers = Vec::new();
    while fillers.len() < 4096 && fillers.last().is_none_or(|last| *last > block) {
        fillers.push(reserve(FILLER));
    }
    release(block.wrapping_byte_add(DISTANCE), PAGE);
    for mode in MODES {
        let mut device = load(&text);
        device.options.mode = mode;
        let out = device.buffer(&[5u32; 1]);
        device.launch("k", 1, 1, &Args::default().buffer(&out)).unwrap();
        assert_eq!(out.read::<u32>(), [200 * 15], "{mode:?}");
    }
    release(block, DISTANCE);
    fillers.into_iter().for_each(|filler| release(filler, FILLER));
}
