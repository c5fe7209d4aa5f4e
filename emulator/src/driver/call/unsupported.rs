//! What a driver function says, once, that answers `CUDA_ERROR_NOT_SUPPORTED`: its name and the reason.

use core::array;
use std::panic::catch_unwind;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use cuprum_sys::{CUresult, FnId};

use crate::message::{self, Message};

/// The functions that are not implemented, by reason. A paragraph is comment lines with the reason, then names; the
/// first one is about the file.
const LIST: &str = include_str!("../not_implemented.txt");

/// More than the driver has functions.
const MOST: usize = 800;

const _: () = assert!(FnId::ALL.len() <= MOST);

/// A function that is not implemented.
///
/// It is called through the types of many functions. That is sound with the C calling convention of the platforms we
/// support: the caller owns the arguments, and nothing here reads them.
pub(super) type Stub = unsafe extern "system" fn() -> CUresult;

unsafe extern "system" fn stub<const NUMBER: usize>() -> CUresult {
    // A panic of the client's hook must not unwind into C.
    let _ = catch_unwind(|| FnId::ALL.get(NUMBER).copied().map(tell));
    CUresult::CUDA_ERROR_NOT_SUPPORTED
}

macro_rules! ten {
    ($($hundred:literal)*) => { [$( [
        ten!(@ $hundred 0), ten!(@ $hundred 1), ten!(@ $hundred 2), ten!(@ $hundred 3), ten!(@ $hundred 4),
        ten!(@ $hundred 5), ten!(@ $hundred 6), ten!(@ $hundred 7), ten!(@ $hundred 8), ten!(@ $hundred 9),
    ] ),*] };
    (@ $hundred:literal $ten:literal) => { [
        stub::<{ 100 * $hundred + 10 * $ten }>,
        stub::<{ 100 * $hundred + 10 * $ten + 1 }>,
        stub::<{ 100 * $hundred + 10 * $ten + 2 }>,
        stub::<{ 100 * $hundred + 10 * $ten + 3 }>,
        stub::<{ 100 * $hundred + 10 * $ten + 4 }>,
        stub::<{ 100 * $hundred + 10 * $ten + 5 }>,
        stub::<{ 100 * $hundred + 10 * $ten + 6 }>,
        stub::<{ 100 * $hundred + 10 * $ten + 7 }>,
        stub::<{ 100 * $hundred + 10 * $ten + 8 }>,
        stub::<{ 100 * $hundred + 10 * $ten + 9 }>,
    ] };
}

/// One stub per function, by its number.
static STUBS: [[[Stub; 10]; 10]; MOST / 100] = ten!(0 1 2 3 4 5 6 7);

/// What stands in for a function that is not implemented.
pub(super) fn stand_in(id: FnId) -> Stub {
    let number = id as usize;
    STUBS[number / 100][number / 10 % 10][number % 10]
}

/// Tells the client's hook, once per function, that it answers `CUDA_ERROR_NOT_SUPPORTED`, and why.
pub(crate) fn tell(id: FnId) {
    static TOLD: LazyLock<[AtomicBool; MOST]> = LazyLock::new(|| array::from_fn(|_| AtomicBool::new(false)));
    let told = TOLD.get(id as usize).is_none_or(|told| told.swap(true, Ordering::Relaxed));
    if told {
        return;
    }
    let function = id.symbol().name.to_str().unwrap_or_default();
    let reason = reason(function).unwrap_or_else(|| of_arguments(id).to_owned());
    message::tell(&Message::NotSupported { function, reason: &reason });
}

/// The reason in the list, if the function is in it.
fn reason(function: &str) -> Option<String> {
    let lists = |paragraph: &&str| {
        let names = paragraph.lines().filter(|line| !line.starts_with('#'));
        names.flat_map(str::split_whitespace).any(|name| name == function)
    };
    let paragraph = LIST.split("\n\n").find(lists)?;
    let lines: Vec<_> = paragraph.lines().filter_map(|line| line.strip_prefix('#')).map(str::trim).collect();
    Some(lines.join(" "))
}

/// Why a function that works for other arguments refuses some.
fn of_arguments(id: FnId) -> &'static str {
    match id {
        FnId::cuLaunchKernelEx => {
            "the software device runs clusters of one block only; \
             CUPRUM_EMULATOR_COMPUTE_CAPABILITY=8.9 makes most programs avoid them"
        }
        FnId::cuMemCreate | FnId::cuMemPoolCreate => {
            "memory of the software device cannot be shared with other processes: ask for no type of handle"
        }
        _ => "the software device does not do what these arguments ask for",
    }
}
