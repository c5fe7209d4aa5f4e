//! How a C function of the driver is written here.
//!
//! [`calls!`] takes functions in plain Rust, with checked parameter types in place of raw pointers
//! ([`Out`], [`In`], [`Text`]), and makes of each an `extern "system"` function with the driver's
//! exact signature. The signature is compared with the table of `cuprum-sys` by the compiler. Each
//! function exists twice: with the legacy default stream and with one of each thread's own.

use core::ffi::{CStr, c_char, c_void};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuprum_sys::*;

use crate::served;

use super::context::Context;
use super::handle::Handle;
use super::outlive;
use super::process;
use super::state::emulator;
use super::unsupported;

/// What a function answers: the C result, with success apart.
pub(super) type Answer<T = ()> = Result<T, CUresult>;

pub(super) const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
pub(super) const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
pub(super) const INVALID_CONTEXT: CUresult = CUresult::CUDA_ERROR_INVALID_CONTEXT;
pub(super) const NOT_FOUND: CUresult = CUresult::CUDA_ERROR_NOT_FOUND;
pub(super) const NOT_READY: CUresult = CUresult::CUDA_ERROR_NOT_READY;
pub(super) const NOT_SUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
pub(super) const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// Fails with `code` unless `condition` holds.
pub(super) fn ensure(condition: bool, code: CUresult) -> Answer {
    if condition { Ok(()) } else { Err(code) }
}

/// The call being served.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) id: FnId,
    /// Whether the null stream means the calling thread's own.
    pub(super) per_thread: bool,
}

impl Call {
    /// The calling thread's current context, which must be alive and not poisoned.
    pub(super) fn context(&self) -> Answer<Arc<Context>> {
        let context = self.context_to_wait_for()?;
        context.check()?;
        Ok(context)
    }

    /// The calling thread's current context, whatever its state: a call that waits answers for a fault only when
    /// nothing of the context touches the client's memory any more.
    pub(super) fn context_to_wait_for(&self) -> Answer<Arc<Context>> {
        super::context::current().ok_or(INVALID_CONTEXT)
    }
}

/// Whether `cuInit` was called.
static INITIALISED: AtomicBool = AtomicBool::new(false);

pub(super) fn set_initialised() {
    INITIALISED.store(true, Ordering::Release);
}

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a callback of the client, during which the driver refuses all calls of this thread.
pub(super) fn in_callback<R>(callback: impl FnOnce() -> R) -> R {
    let before = IN_CALLBACK.replace(true);
    let result = callback();
    IN_CALLBACK.set(before);
    result
}

/// Everything that happens around the body of a function.
pub(super) fn enter(call: Call, body: impl FnOnce(&Call) -> Answer) -> CUresult {
    let guarded = AssertUnwindSafe(|| {
        let answer = serve(&call, body);
        if answer == Err(NOT_SUPPORTED) {
            unsupported::tell(call.id);
        }
        answer
    });
    match catch_unwind(guarded) {
        Ok(Ok(())) => CUresult::CUDA_SUCCESS,
        Ok(Err(code)) => code,
        // A panic is a bug here; it must not unwind into C.
        Err(_) => CUresult::CUDA_ERROR_UNKNOWN,
    }
}

fn serve(call: &Call, body: impl FnOnce(&Call) -> Answer) -> Answer {
    gate(call.id)?;
    served::begin(call.id);
    if serves_before_init(call.id) {
        return body(call);
    }
    let scheduler = &emulator().scheduler;
    scheduler.stir();
    outlive::wait_in(call.id);
    let answer = body(call);
    scheduler.stir();
    answer
}

/// Whether a function works before `cuInit`.
fn serves_before_init(id: FnId) -> bool {
    matches!(
        id,
        FnId::cuInit
            | FnId::cuDriverGetVersion
            | FnId::cuGetErrorName
            | FnId::cuGetErrorString
            | FnId::cuGetProcAddress
            | FnId::cuGetProcAddress_v2
    )
}

fn gate(id: FnId) -> Answer {
    if serves_before_init(id) {
        return Ok(());
    }
    let ready = INITIALISED.load(Ordering::Acquire) && !process::is_forked_child();
    ensure(ready, CUresult::CUDA_ERROR_NOT_INITIALIZED)?;
    ensure(!IN_CALLBACK.get(), CUresult::CUDA_ERROR_NOT_PERMITTED)
}

/// A parameter: how it comes in from C, and what the function sees.
pub(super) trait Param: Sized {
    /// The C type.
    type Raw;

    /// # Safety
    ///
    /// `raw` is what the caller of the driver function passed for this parameter, as the driver's
    /// documentation demands it.
    unsafe fn from_raw(raw: Self::Raw) -> Self;
}

macro_rules! passed_as_is {
    ($($ty:ty),* $(,)?) => { $(
        impl Param for $ty {
            type Raw = $ty;

            unsafe fn from_raw(raw: $ty) -> $ty {
                raw
            }
        }
    )* };
}

passed_as_is!(
    u8,
    u16,
    u32,
    u64,
    usize,
    i32,
    f32,
    CUarray_format,
    CUdevice_attribute,
    CUdevice_P2PAttribute,
    CUfunc_cache,
    CUfunction_attribute,
    CUjitInputType,
    CUlimit,
    CUmemAccess_flags,
    CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType,
    CUmemPool_attribute,
    CUmem_advise,
    CUmem_range_attribute,
    CUpointer_attribute,
    CUresult,
    CUsharedconfig,
    CUstreamCaptureMode,
    CUlaunchAttributeID,
    CUmemLocation,
    CUhostFn,
    CUstreamCallback,
    CUoccupancyB2DSize,
    CUexecAffinityType,
    CUmemAllocationType,
    CUgraphMem_attribute,
    CUoutput_mode,
    CUflushGPUDirectRDMAWritesTarget,
    CUflushGPUDirectRDMAWritesScope,
    CUdevResourceType,
);

impl<H: Handle> Param for H {
    type Raw = H;

    unsafe fn from_raw(raw: H) -> H {
        raw
    }
}

impl<T> Param for *mut T {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> *mut T {
        raw
    }
}

impl<T> Param for *const T {
    type Raw = *const T;

    unsafe fn from_raw(raw: *const T) -> *const T {
        raw
    }
}

/// A pointer through which results go out: null, or valid for as many values as the function
/// documents.
#[derive(Debug)]
pub(super) struct Out<T>(*mut T);

// Derived, these would ask the same of `T`, which may be `void`.
impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Param for Out<T> {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> Self {
        Self(raw)
    }
}

impl<T> Out<T> {
    pub(super) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Fails if the pointer is null.
    pub(super) fn check(self) -> Answer {
        ensure(!self.0.is_null(), INVALID_VALUE)
    }
}

impl<T> Out<T> {
    /// The place for the value at `index`, where the caller passed an array.
    pub(super) fn nth(self, index: usize) -> Self {
        Self(self.0.wrapping_add(index))
    }
}

impl<T: Copy> Out<T> {
    /// Writes the result.
    pub(super) fn set(self, value: T) -> Answer {
        self.check()?;
        self.set_if_wanted(value);
        Ok(())
    }

    /// Writes the result unless the caller passed null.
    pub(super) fn set_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so by the contract of `Param::from_raw` the caller's own place for
            // this result; C does not promise alignment, hence unaligned.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Reads what the caller put there, for parameters that go both ways.
    pub(super) fn get(self) -> Answer<T> {
        self.check()?;
        // SAFETY: not null, and documented to hold a value on entry.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Writes a result of several values; the caller has said that there is room for `room`.
    pub(super) fn set_all(self, values: &[T], room: usize) -> Answer {
        if room > 0 && !values.is_empty() {
            self.check()?;
        }
        for (index, &value) in values.iter().take(room).enumerate() {
            self.nth(index).set_if_wanted(value);
        }
        Ok(())
    }
}

impl Out<*mut c_void> {
    /// A place for results of another type, one of those that C passes as `void *`.
    pub(super) fn at(self, index: usize) -> Answer<Out<c_void>> {
        Ok(Out(self.nth(index).get()?))
    }
}

impl Out<c_void> {
    /// The place as one for a result of type `T`, where the documentation says so.
    pub(super) fn cast<T>(self) -> Out<T> {
        Out(self.0.cast())
    }
}

impl Out<c_char> {
    /// Writes text with its NUL into a buffer of `room` bytes, cut off where it does not fit.
    pub(super) fn set_text(self, text: &str, room: usize) -> Answer {
        self.check()?;
        let Some(last) = room.checked_sub(1) else {
            return Err(INVALID_VALUE);
        };
        let bytes = text.bytes().take(last).chain([0]);
        for (index, byte) in bytes.enumerate() {
            self.nth(index).set_if_wanted(c_char::from_ne_bytes([byte]));
        }
        Ok(())
    }
}

/// A pointer to input: null, or valid for as many values as the function documents.
#[derive(Debug)]
pub(super) struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T> Param for In<T> {
    type Raw = *const T;

    unsafe fn from_raw(raw: *const T) -> Self {
        Self(raw)
    }
}

impl<T> In<T> {
    pub(super) fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<T: Copy> In<T> {
    /// Reads the value; fails if the pointer is null.
    pub(super) fn get(self) -> Answer<T> {
        ensure(!self.0.is_null(), INVALID_VALUE)?;
        // SAFETY: not null, so by the contract of `Param::from_raw` a readable value of the caller.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads `count` values; fails if the pointer is null and the count is not zero.
    pub(super) fn get_all(self, count: usize) -> Answer<Vec<T>> {
        (0..count)
            .map(|index| {
                ensure(!self.0.is_null(), INVALID_VALUE)?;
                Self(self.0.wrapping_add(index)).get()
            })
            .collect()
    }
}

/// An array that the function only reads, though C says `T *`.
#[derive(Debug, Clone, Copy)]
pub(super) struct InMut<T>(*mut T);

impl<T> Param for InMut<T> {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> Self {
        Self(raw)
    }
}

impl<T: Copy> InMut<T> {
    pub(super) fn input(self) -> In<T> {
        In(self.0)
    }

    /// For structures of which one field is a result.
    pub(super) fn output(self) -> Out<T> {
        Out(self.0)
    }
}

/// A NUL-terminated string of the caller, or null.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text(*const c_char);

impl Param for Text {
    type Raw = *const c_char;

    unsafe fn from_raw(raw: *const c_char) -> Self {
        Self(raw)
    }
}

impl Text {
    /// The string; fails if it is null. Bytes that are not UTF-8 are replaced.
    pub(super) fn get(self) -> Answer<String> {
        ensure(!self.0.is_null(), INVALID_VALUE)?;
        // SAFETY: not null, so by the contract of `Param::from_raw` a NUL-terminated string, which
        // the caller keeps unchanged during the call.
        let text = unsafe { CStr::from_ptr(self.0) };
        Ok(text.to_string_lossy().into_owned())
    }
}

/// Writes the number of a new object; fails before anything is made if there is no place for it.
pub(super) fn put_handle<H: Handle>(out: Out<H>, handle: usize) -> Answer {
    out.set(H::from_addr(handle))
}

/// Defines functions of the driver, and an `install` that enters them into the table.
///
/// The first parameter of each is the [`Call`]; the others have the names of the C parameters and
/// types that implement [`Param`].
macro_rules! calls {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($call:ident $(, $arg:ident: $ty:ty)* $(,)?) $body:block
    )*) => {
        $(
            $(#[$doc])*
            #[allow(non_snake_case, clippy::too_many_arguments)]
            unsafe extern "system" fn $name<const PER_THREAD: bool>(
                $($arg: <$ty as $crate::driver::call::Param>::Raw),*
            ) -> cuprum_sys::CUresult {
                #[allow(clippy::too_many_arguments)]
                fn body(
                    $call: &$crate::driver::call::Call,
                    $($arg: $ty),*
                ) -> $crate::driver::call::Answer $body
                $(
                    // SAFETY: passed by the caller for this very parameter.
                    let $arg = unsafe { <$ty as $crate::driver::call::Param>::from_raw($arg) };
                )*
                let call = $crate::driver::call::Call {
                    id: cuprum_sys::FnId::$name,
                    per_thread: PER_THREAD,
                };
                $crate::driver::call::enter(call, |call| body(call, $($arg),*))
            }
        )*

        /// Enters the functions of this module into the table.
        pub(in crate::driver) fn install(table: &mut $crate::driver::table::Builder) {
            $( table.add(
                cuprum_sys::FnId::$name,
                |fns| fns.$name = $name::<false>,
                |fns| fns.$name = $name::<true>,
            ); )*
        }
    };
}
pub(super) use calls;
