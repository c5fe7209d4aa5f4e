//! A stand-in for NCCL, for tests without GPUs. It is not NCCL: it is slow, has no network but this
//! machine's, and says so in its version, whose last number is 99, in its texts, and by the export
//! `cuprum_nccl_stand_in`.
//!
//! It works by calls of the driver alone, in the order of streams: a copy to page-locked memory, a
//! host function that gives it to the hub, a wait for a value, a copy back. The hub is a thread of
//! the process that made the group's name; members in this process and in others are connected with
//! it by TCP. It compares the calls of the members, reduces on the host, and notifies all when a
//! member's connection ends.
//!
//! | as NCCL | not as NCCL |
//! |---|---|
//! | calls return before the work is done, and a member that is missing lets the others wait forever | members of one group call the same, or get an error, where NCCL's results are undefined |
//! | an error of another member shows in the asynchronous error, and streams wait until the communicator is aborted | sums are made in the order of the members, so that all members and runs have the same |
//! | a send waits for its receive | a configuration changes nothing but whether calls block |

mod comm;
mod driver;
pub mod exports;
mod group;
mod hub;
mod messages;
mod operation;
mod queue;
mod reduce;
mod wire;

use std::cell::RefCell;
use std::ffi::c_void;

use cuprum_sys::Library;

pub use exports::address;

/// Version that it reports: it has the functions of 2.27.
pub const VERSION: i32 = 22_799;

/// Results, with NCCL's numbers.
pub(crate) mod code {
    pub(crate) const SUCCESS: i32 = 0;
    pub(crate) const CUDA: i32 = 1;
    pub(crate) const SYSTEM: i32 = 2;
    pub(crate) const ARGUMENT: i32 = 4;
    pub(crate) const USAGE: i32 = 5;
    pub(crate) const REMOTE: i32 = 6;
    pub(crate) const IN_PROGRESS: i32 = 7;
}

thread_local! {
    static FAILS: RefCell<Option<(String, i32)>> = const { RefCell::new(None) };
    static LAST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The functions of this stand-in, by their names, over a driver that is in the process; null for
/// one that it lacks.
pub fn functions(driver: Library) -> impl Fn(&str) -> *const c_void + Copy {
    driver::install(driver);
    address
}

/// The stand-in as a library of the crate `cuprum-nccl`, over a driver: an expression for tests and
/// examples, in functions that return a boxed error.
#[macro_export]
macro_rules! nccl {
    ($driver:expr) => {{
        let address = $crate::functions($driver);
        // SAFETY: each address is that function, and stays in the program.
        unsafe { cuprum_nccl::Nccl::from_resolver("the stand-in", |function| address(function.name())) }?
    }};
}

/// Set-up of the examples of `cuprum-nccl`: the stand-in and, with another name, a shared context
/// of device 0.
#[doc(hidden)]
#[macro_export]
macro_rules! example {
    ($nccl:ident $(, $context:ident)?) => {
        let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
        let $nccl = $crate::nccl!(library);
        $( let $context = cuprum::open_in(library, 0)?; )?
    };
}

/// Lets the next call of this function by this thread fail with a code, before it does anything.
pub fn fail_next(function: &str, code: i32) {
    FAILS.with_borrow_mut(|fails| *fails = Some((function.into(), code)));
}

/// The code with which this call is to fail.
pub(crate) fn injected(function: &str) -> Option<i32> {
    FAILS
        .with_borrow_mut(|fails| {
            let is_it = fails.as_ref().is_some_and(|(name, _)| name == function);
            is_it.then(|| fails.take().map(|(_, code)| code)).flatten()
        })
        .inspect(|_| {
            if function == "ncclGroupEnd" {
                group::cancel();
            }
        })
}

/// Notes the text of an error, and returns its code.
pub(crate) fn refuse(code: i32, text: &str) -> i32 {
    LAST.with_borrow_mut(|last| *last = format!("stand-in for NCCL: {text}\0").into_bytes());
    code
}
