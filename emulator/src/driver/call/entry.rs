//! The entry of each function: its checks, its body, its answer; and the macros that define
//! functions.

use super::{misuse, process, unsupported};
use crate::client;
use crate::driver::answer::{Answer, ensure};
use crate::driver::state::scheduler;
use crate::served;
use cuprum_sys::{CUresult, FnId};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) id: FnId,
    /// True if the null stream means the calling thread's default stream.
    pub(crate) per_thread: bool,
}

static INITIALIZED: AtomicBool = AtomicBool::new(false);

pub(crate) fn set_initialized() {
    INITIALIZED.store(true, Ordering::Release);
}

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a callback of the client. Meanwhile the driver refuses all calls of this thread.
pub(crate) fn in_callback<R>(callback: impl FnOnce() -> R) -> R {
    let before = IN_CALLBACK.replace(true);
    let result = callback();
    IN_CALLBACK.set(before);
    result
}

pub(in crate::driver) trait Body {
    fn run(&self, call: &Call) -> Answer;
}

/// Runs the body of a function with all checks around it. Compiled once, for all functions.
pub(in crate::driver) fn enter(call: Call, body: &dyn Body) -> CUresult {
    let guarded = AssertUnwindSafe(|| {
        let answer = serve(&call, body);
        misuse::judge(call.id, answer);
        if answer == Err(CUresult::CUDA_ERROR_NOT_SUPPORTED) {
            unsupported::tell_arguments(call.id);
        }
        answer
    });
    match catch_unwind(guarded) {
        Ok(Ok(())) => CUresult::CUDA_SUCCESS,
        Ok(Err(code)) => {
            if let Some(told) = REFUSED.get().filter(|_| !IN_CALLBACK.get() && code != NOT_READY) {
                told(call.id, code);
            }
            code
        }
        // A panic is a bug here, and must not unwind into C.
        Err(_) => CUresult::CUDA_ERROR_UNKNOWN,
    }
}

/// Result of a query about unfinished work, which is no error.
const NOT_READY: CUresult = CUresult::CUDA_ERROR_NOT_READY;

/// Receives each error of a client's call.
static REFUSED: OnceLock<fn(FnId, CUresult)> = OnceLock::new();

/// Sets the function that receives errors. Only the first call has an effect.
pub(crate) fn tell_refusals(to: fn(FnId, CUresult)) {
    REFUSED.get_or_init(|| to);
}

fn serve(call: &Call, body: &dyn Body) -> Answer {
    gate(call.id)?;
    let site = if misuse::wants_site(call.id) { client::here() } else { None };
    served::begin(call.id, site);
    if serves_before_init(call.id) {
        return body.run(call);
    }
    let scheduler = scheduler();
    scheduler.stir();
    scheduler.wait_in(call.id);
    let answer = body.run(call);
    scheduler.stir();
    answer
}

/// True if a function works before `cuInit`.
fn serves_before_init(id: FnId) -> bool {
    matches!(
        id,
        FnId::cuInit
            | FnId::cuDriverGetVersion
            | FnId::cuGetErrorName
            | FnId::cuGetErrorString
            | FnId::cuGetExportTable
            | FnId::cuGetProcAddress
            | FnId::cuGetProcAddress_v2
    )
}

fn gate(id: FnId) -> Answer {
    if serves_before_init(id) {
        return Ok(());
    }
    let ready = INITIALIZED.load(Ordering::Acquire) && !process::is_forked_child();
    ensure(ready, CUresult::CUDA_ERROR_NOT_INITIALIZED)?;
    ensure(!IN_CALLBACK.get(), CUresult::CUDA_ERROR_NOT_PERMITTED)
}

/// Defines functions of the driver, and an `install` that registers them. Tables of objects that
/// end with contexts, or that can leak, come first: `objects TABLE;`.
///
/// A function with identical revisions has their names in brackets. Its first parameter is the
/// [`Call`]. The others have the names of the C parameters, and types that implement [`Param`].
macro_rules! calls {
    ($( objects $table:path; )* $(
        $(#[$doc:meta])*
        fn $names:tt $parameters:tt $body:block
    )*) => {
        $( $crate::driver::call::function! { $names $parameters $body } )*

        /// Registers the functions and the tables of objects of this module.
        pub(crate) fn install(builder: &mut $crate::driver::call::Builder) {
            $( builder.objects(&$table); )*
            $( $crate::driver::call::enter_function! { builder $names } )*
        }
    };
}

/// Expands a function of [`calls!`] once for each of its names.
macro_rules! function {
    ([$($name:ident),+] $parameters:tt $body:block) => {
        $( $crate::driver::call::function! { $name $parameters $body } )+
    };
    ($name:ident ($call:ident $(, $arg:ident: $ty:ty)* $(,)?) $body:block) => {
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "names and parameters are the driver's")]
        unsafe extern "system" fn $name<const PER_THREAD: bool>(
            $($arg: <$ty as $crate::driver::call::Param>::Raw),*
        ) -> cuprum_sys::CUresult {
            struct Arguments($($ty),*);

            impl $crate::driver::call::Body for Arguments {
                fn run(&self, $call: &$crate::driver::call::Call) -> $crate::driver::answer::Answer {
                    let &Self($($arg),*) = self;
                    $body
                }
            }

            let arguments = Arguments($(
                // SAFETY: the caller passed it for this parameter, as the driver documents.
                unsafe { <$ty as $crate::driver::call::Param>::from_raw($arg) }
            ),*);
            let call = $crate::driver::call::Call {
                id: cuprum_sys::FnId::$name,
                per_thread: PER_THREAD,
            };
            $crate::driver::call::enter(call, &arguments)
        }
    };
}

/// Registers a function of [`calls!`] under each of its names.
macro_rules! enter_function {
    ($builder:ident [$($name:ident),+]) => {
        $( $crate::driver::call::enter_function! { $builder $name } )+
    };
    ($builder:ident $name:ident) => {
        let [legacy, per_thread] = $builder.add(cuprum_sys::FnId::$name);
        legacy.$name = $name::<false>;
        per_thread.$name = $name::<{ cuprum_sys::FnId::$name.has_per_thread_symbol() }>;
    };
}
pub(crate) use {calls, enter_function, function};
