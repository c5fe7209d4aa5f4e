//! Every driver function is either implemented, or listed in `not_implemented.txt` with the reason.

use core::ffi::c_void;
use std::collections::BTreeSet;

use cuprum_sys::{CUresult, FnId};

fn name_of(id: FnId) -> &'static str {
    id.symbol().name.to_str().expect("names are ASCII")
}

/// Returns the names in the list. A reason is a line that begins with `#`.
fn listed() -> BTreeSet<&'static str> {
    let list = include_str!("../../src/driver/not_implemented.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let mut names = BTreeSet::new();
    for name in lines.flat_map(str::split_whitespace) {
        assert!(names.insert(name), "{name} is listed twice");
    }
    names
}

#[test]
fn what_is_not_implemented_is_listed_with_a_reason() {
    let missing: BTreeSet<_> =
        FnId::ALL.iter().filter(|&&id| !cuprum_emulator::implements(id)).map(|&id| name_of(id)).collect();
    let listed = listed();
    let unlisted: Vec<_> = missing.difference(&listed).collect();
    let done: Vec<_> = listed.difference(&missing).collect();
    assert!(unlisted.is_empty(), "implement these, or add them to the list with the reason: {unlisted:?}");
    assert!(done.is_empty(), "implemented or unknown; take them out of the list: {done:?}");
}

/// They exist in every version that has them, and return an error; no address is null.
#[test]
fn what_is_not_implemented_says_so() {
    let library = cuprum_emulator::library();
    for &id in FnId::ALL.iter().filter(|&&id| !cuprum_emulator::implements(id)) {
        let address = library.address(id);
        assert!(!address.is_null(), "{}", name_of(id));
        // SAFETY: a function that is not implemented reads none of its arguments, whatever its
        // signature.
        let function = unsafe {
            core::mem::transmute::<*const c_void, unsafe extern "system" fn() -> CUresult>(address)
        };
        // SAFETY: as above.
        assert_eq!(unsafe { function() }, CUresult::CUDA_ERROR_NOT_SUPPORTED, "{}", name_of(id));
    }
}
