//! Memory that opening keeps: one table for a driver, nothing for a refusal.
#![cfg(target_os = "linux")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicIsize, Ordering};

use cuprum_sys::{FnId, Library};
use cuprum_testing::opened::open_from;
use cuprum_testing::processes::fake;

/// This crate, for `fake`.
const HERE: (&str, &str) = (env!("CARGO_MANIFEST_DIR"), env!("CARGO_TARGET_TMPDIR"));

struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: leaves everything to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that a hundred rounds leak, after one round to warm up.
fn leaked_bytes(mut round: impl FnMut()) -> isize {
    round();
    let before = LIVE.load(Ordering::Relaxed);
    for _ in 0..100 {
        round();
    }
    LIVE.load(Ordering::Relaxed) - before
}

/// The only test of this file, because others would allocate concurrently.
#[test]
fn nothing_grows() {
    let driver = fake(HERE, "driver", "leaks", "libdriver.so");
    assert_eq!(leaked_bytes(|| assert!(open_from(&driver).is_ok())), 0, "opened again and again");
    let refused = ["not_a_driver", "stub", "without_version", "broken_version"]
        .map(|name| fake(HERE, name, "leaks", &format!("lib{name}.so")));
    for path in refused.iter().map(|path| path.as_path()).chain([Path::new("/nowhere/libcuda.so.1")]) {
        let round = || drop(open_from(path).unwrap_err());
        assert_eq!(leaked_bytes(round), 0, "{}", path.display());
    }
    let library = open_from(&driver).unwrap();
    let copy = || {
        // SAFETY: every address is the function of that name, from a driver that stays loaded.
        let again = unsafe { Library::from_resolver("copy", |symbol| of(library, symbol.name)) };
        assert_eq!(again.unwrap(), library);
    };
    assert_eq!(leaked_bytes(copy), 0, "the same table from a resolver");
}

fn of(library: Library, name: &std::ffi::CStr) -> *const std::ffi::c_void {
    let function = FnId::ALL.iter().find(|function| function.symbol().name == name).unwrap();
    library.address(*function)
}
