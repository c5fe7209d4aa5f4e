//! Messages about functions that return `CUDA_ERROR_NOT_SUPPORTED`: name and reason, once each.

use std::cell::Cell;
use std::panic::catch_unwind;
use std::sync::{LazyLock, Mutex, PoisonError};

use cuprum_sys::{CUresult, FnId};

use crate::message::{self, Message};

/// The functions that are not implemented, by reason. A paragraph consists of comment lines with
/// the reason, then names. The first paragraph describes the file.
const LIST: &str = include_str!("../not_implemented.txt");

/// Upper bound on the number of driver functions: a hundred for each hundred of [`STUBS`].
const MOST: usize = 600;

const _: () = assert!(FnId::ALL.len() <= MOST);

/// A function that is not implemented.
///
/// Clients call it through the types of many functions. This is sound in the C calling convention
/// of the supported platforms, because the caller owns the arguments and the function reads none.
pub(super) type Stub = unsafe extern "system" fn() -> CUresult;

unsafe extern "system" fn stub<const NUMBER: usize>() -> CUresult {
    refuse(NUMBER)
}

fn refuse(number: usize) -> CUresult {
    // A panic of the client's hook must not unwind into C.
    let _ = catch_unwind(|| FnId::ALL.get(number).copied().map(tell_stub));
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

static STUBS: [[[Stub; 10]; 10]; MOST / 100] = ten!(0 1 2 3 4 5);

pub(super) fn stand_in(id: FnId) -> Stub {
    let number = id as usize;
    STUBS[number / 100][number / 10 % 10][number % 10]
}

thread_local! {
    /// Reason why this thread's call returns `CUDA_ERROR_NOT_SUPPORTED`.
    static REASON: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Returns the code for unsupported arguments of a function. The reason names an alternative.
pub(crate) fn not_supported(reason: &'static str) -> CUresult {
    REASON.set(Some(reason));
    CUresult::CUDA_ERROR_NOT_SUPPORTED
}

/// Reports to the client's hook why a call is not supported, once per function and reason.
pub(super) fn tell_arguments(id: FnId) {
    if let Some(reason) = REASON.take() {
        tell(id, reason);
    }
}

/// Reports to the client's hook, once, that a function is not implemented.
fn tell_stub(id: FnId) {
    tell(id, reason(name_of(id)).unwrap_or_default());
}

fn tell(id: FnId, reason: &'static str) {
    static TOLD: Mutex<Vec<(FnId, &str)>> = Mutex::new(Vec::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.contains(&(id, reason)) {
        told.push((id, reason));
        // The client's hook may itself call the driver.
        drop(told);
        message::tell(&Message::NotSupported { function: name_of(id), reason });
    }
}

fn name_of(id: FnId) -> &'static str {
    id.symbol().name.to_str().unwrap_or_default()
}

fn reason(function: &str) -> Option<&'static str> {
    static REASONS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
        let mut reasons = Vec::new();
        for paragraph in LIST.split("\n\n") {
            let words = words_of(paragraph);
            for line in paragraph.lines().filter(|line| !line.starts_with('#')) {
                reasons.extend(line.split_whitespace().map(|name| (name, words.clone())));
            }
        }
        reasons
    });
    REASONS.iter().find(|(name, _)| *name == function).map(|(_, reason)| reason.as_str())
}

fn words_of(paragraph: &str) -> String {
    let mut words = String::new();
    for line in paragraph.lines().filter_map(|line| line.strip_prefix('#')) {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(line.trim());
    }
    words
}
