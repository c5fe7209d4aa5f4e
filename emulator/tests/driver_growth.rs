//! What calls of the driver cost while much is alive: no more than while little is.

mod common;

use std::time::{Duration, Instant};

use common::*;
use cuprum_sys::*;

/// Allocates and makes events, so many of each.
fn make(table: &Fns, count: usize) {
    for _ in 0..count {
        let (mut pointer, mut event) = (0, CUevent::null());
        // SAFETY: a place for the address.
        assert_eq!(unsafe { (table.cuMemAlloc_v2)(&mut pointer, 512) }, CUresult::CUDA_SUCCESS);
        // SAFETY: a place for the handle.
        assert_eq!(unsafe { (table.cuEventCreate)(&mut event, 0) }, CUresult::CUDA_SUCCESS);
    }
}

/// Makes contexts with something in each, and destroys them.
fn contexts(table: &Fns, count: usize) -> Duration {
    let start = Instant::now();
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
