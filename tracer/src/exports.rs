//! The exported functions, which record their calls, and their addresses in place of the driver's.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::OnceLock;

use cuprum_sys::hook::{Call, Hook};
use cuprum_sys::{CUresult, FnId, Fns, Library, StreamMode, Symbol};

use crate::driver;
use crate::record::write_down;

mod all {
    cuprum_sys::export_functions!(crate::exports::functions, crate::driver::answer);
}

/// The addresses of an exported function and of its per-thread twin, by its place in the list;
/// `None` after the last.
#[doc(hidden)]
pub fn exported(function: usize) -> Option<[*const c_void; 2]> {
    all::ADDRESSES.get(function).copied()
}

/// The hook of a stream mode.
struct Traced<const PER_THREAD: bool>;

impl<const PER_THREAD: bool> Hook for Traced<PER_THREAD> {
    fn target() -> &'static Fns {
        driver::functions(if PER_THREAD { StreamMode::PerThread } else { StreamMode::Legacy })
    }

    fn call(call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
        let result = write_down(call, PER_THREAD, pass_on);
        if matches!(call.function(), FnId::cuGetProcAddress | FnId::cuGetProcAddress_v2)
            && result == CUresult::CUDA_SUCCESS
        {
            put_ours(call);
        }
        result
    }
}

/// Functions that record their calls.
fn functions(mode: StreamMode) -> &'static Fns {
    static LEGACY: Fns = Fns::hooked::<Traced<false>>();
    static PER_THREAD: Fns = Fns::hooked::<Traced<true>>();
    match mode {
        StreamMode::Legacy => &LEGACY,
        StreamMode::PerThread => &PER_THREAD,
    }
}

/// Replaces the driver's function that a program received by ours. A function that is unknown here
/// is not traced.
fn put_ours(call: &Call<'_>) {
    let Some(argument) = call.arguments().nth(1) else { return };
    let place = ptr::with_exposed_provenance_mut::<*const c_void>(argument.word() as usize);
    if place.is_null() {
        return;
    }
    // SAFETY: the call succeeded, and has written an address there.
    let theirs = unsafe { place.read() };
    if let Some(ours) = ours(theirs) {
        // SAFETY: the program's place for an address; ours has the same signature as the driver's.
        unsafe { place.write(ours) };
    }
}

/// Our function in place of one of the driver's; `None` for an unknown address.
fn ours(address: *const c_void) -> Option<*const c_void> {
    static OURS: OnceLock<HashMap<usize, Place>> = OnceLock::new();
    let driver = driver::driver()?;
    let ours = OURS.get_or_init(|| table(driver.legacy, driver.per_thread));
    ours.get(&address.addr()).map(|&(function, mode)| all::ADDRESSES[function][mode])
}

/// A function of ours: its place in the list, and 1 for its per-thread twin.
type Place = (usize, usize);

/// Our functions by the driver's addresses: exported ones, and ones returned for a name and a
/// version.
fn table(legacy: Library, per_thread: Library) -> HashMap<usize, Place> {
    let mut ours = HashMap::new();
    let modes = [(legacy, StreamMode::Legacy, 0), (per_thread, StreamMode::PerThread, 1)];
    for (library, _, which) in modes {
        for (number, &function) in FnId::ALL.iter().enumerate() {
            if library.has(function) {
                ours.entry(library.address(function).addr()).or_insert((number, which));
            }
        }
    }
    for (library, mode, which) in modes {
        for (number, &function) in FnId::ALL.iter().enumerate() {
            let found = asked(library, &function.symbol_in(mode));
            if !found.is_null() {
                ours.entry(found.addr()).or_insert((number, which));
            }
        }
    }
    ours
}

/// The address that the driver returns for a symbol; null if it knows none.
fn asked(library: Library, symbol: &Symbol) -> *const c_void {
    const LEGACY: u64 = 1;
    const PER_THREAD: u64 = 2;
    let Ok(base) = CString::new(symbol.base) else { return ptr::null() };
    let flags = if symbol.mode == StreamMode::PerThread { PER_THREAD } else { LEGACY };
    let mut found = ptr::null_mut();
    let (fns, version) = (library.fns(), symbol.since.as_raw() as i32);
    let mut status = cuprum_sys::CUdriverProcAddressQueryResult(0);
    let result = if library.has(FnId::cuGetProcAddress_v2) {
        // SAFETY: a NUL-terminated name, and places for the answers.
        unsafe { (fns.cuGetProcAddress_v2)(base.as_ptr(), &mut found, version, flags, &mut status) }
    } else {
        // SAFETY: likewise.
        unsafe { (fns.cuGetProcAddress)(base.as_ptr(), &mut found, version, flags) }
    };
    if result == CUresult::CUDA_SUCCESS { found } else { ptr::null() }
}
