//! What calls of the driver cost while much is alive: no more than while little is.

use std::time::Duration;

use crate::clock::Start;
use crate::common::*;
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

/// Finds each function of a module with so many kernels, and each variable.
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
        // SAFETY: a place for the handle, a module and a name.
        let found = unsafe { (table.cuModuleGetFunction)(&mut function, module, kernel.as_ptr()) };
        assert_eq!(found, CUresult::CUDA_SUCCESS);
        // SAFETY: places for address and size, a module and a name.
        let found =
            unsafe { (table.cuModuleGetGlobal_v2)(&mut address, &mut bytes, module, variable.as_ptr()) };
        assert_eq!((found, bytes), (CUresult::CUDA_SUCCESS, 4));
    }
    let elapsed = start.elapsed();
    ok!(cuModuleUnload(module));
    elapsed
}

#[test]
fn names_are_found_without_a_look_at_the_others() {
    let table = fns();
    let _context = TestContext::new();
    let few = find_all(table, 500);
    let many = find_all(table, 8000);
    println!("500 names: {few:?}, 8000 names: {many:?}");
    assert!(many <= 64 * few.max(Duration::from_millis(1)), "{few:?}, {many:?}");
}
