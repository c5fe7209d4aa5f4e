//! Contexts that this process creates and destroys.

use cuprum_sys::{CUcontext, CUctx_flags, CUctxCreateParams};

use super::{ContextRef, captures, context_owner, stack};
use crate::device::Device;
use crate::error::Error;
use crate::raw::call::{driver_call, either_call};
use crate::raw::flags::flags;

flags! {
    /// Options of a context: how it waits and what it prepares. A bit that this crate does not name is passed on.
    ///
    /// Example: see [`Context`].
    pub struct ContextFlags: u32 {
        /// The host spins while it waits for the device: least latency, one busy core.
        const SPIN = CUctx_flags::CU_CTX_SCHED_SPIN.0;
        /// The host yields its core while it waits.
        const YIELD = CUctx_flags::CU_CTX_SCHED_YIELD.0;
        /// The host sleeps while it waits: least load, most latency.
        const BLOCKING_SYNC = CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC.0;
        /// Host memory can be mapped into the device's address space. Always on for today's devices.
        const MAP_HOST = CUctx_flags::CU_CTX_MAP_HOST.0;
        /// Local memory that a kernel needed stays allocated after it.
        const LMEM_RESIZE_TO_MAX = CUctx_flags::CU_CTX_LMEM_RESIZE_TO_MAX.0;
        const _ = !0;
    }
}

/// A context of its own: created here, destroyed on drop.
///
/// Prefer [`PrimaryContext`](super::PrimaryContext) where other CUDA libraries run in the same process: they
/// all share that one. A context of its own keeps memory, limits and flags apart. It is no shelter from faults: on
/// hardware a fault of a kernel ends CUDA for the whole process (see [Faults](crate#faults)).
///
/// It cannot be dropped while something made in it is alive. Drop destroys it on any thread, swallows errors
/// (see [`swallowed`](crate::swallowed)) and does nothing in a forked child; [`close`](Context::close) reports.
///
/// # Keeping it in a struct
///
/// A struct cannot hold a context and a [`Buffer`](crate::Buffer) that borrows it: [share](Context::share) the context.
/// Objects made in a [shared context](crate::Shared) borrow nothing, and the struct may be moved, sent, kept in
/// a `static` and dropped in any order.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::{Context, ContextFlags, ContextStack};
/// use cuprum::Buffer;
///
/// // The host sleeps while it waits, where `SPIN` would be faster and take a core.
/// let context = Context::create(driver.device(0)?, ContextFlags::BLOCKING_SYNC)?;
/// let mut stack = ContextStack::take()?;
/// let cx = stack.push(&context)?;
/// let zeros = Buffer::<u32>::zeroed(&cx, 4)?;
/// assert_eq!(zeros.to_vec(&cx)?, [0; 4]);
///
/// // In the order that the compiler asks for: what was made in it, the token, the context.
/// drop(zeros);
/// drop(cx);
/// context.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Context(ContextRef);

impl Context {
    /// Creates a context on `device`. It is not left current: push it.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`, `CUDA_ERROR_INVALID_DEVICE` and others that the driver reports;
    /// [`Error::is_forked`] in a forked child.
    ///
    /// Driver: `cuCtxCreate_v2`, CUDA 3.2+, or `cuCtxCreate_v4`, CUDA 12.5+, where a driver has only that; then
    /// `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuCtxCreate_v2", "cuCtxCreate_v4"))]
    pub fn create(device: Device, flags: ContextFlags) -> Result<Self, Error> {
        let library = device.library();
        let (mut raw, flags) = (CUcontext::null(), flags.bits());
        let mut params = CUctxCreateParams::zeroed();
        let (to_raw, params) = (&raw mut raw, &raw mut params);
        // SAFETY: the handle and the parameters, which are zero and so ask for an ordinary context, outlive the call;
        // the device belongs to this driver.
        let created = unsafe {
            either_call!(
                library,
                cuCtxCreate_v2(to_raw, flags, device.as_raw()) or
                cuCtxCreate_v4(to_raw, params, flags, device.as_raw())
            )
        };
        if let Err(error) = created {
            stack::is_uncertain(library, raw);
            if !raw.is_null() {
                // It failed although it was done: dropping the context pops it too.
                drop(ContextRef::new(raw, device).ended_by(destroy));
            }
            return Err(error);
        }
        let context = Self(ContextRef::new(raw, device).ended_by(destroy));
        let mut popped = CUcontext::null();
        // SAFETY: `popped` outlives the call; creation left the new context on top, where it is not wanted.
        let unpushed = unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) };
        unpushed.inspect_err(|_| stack::is_uncertain(library, raw)).map(|()| context)
    }

    /// Destroys the context and reports the error that `Drop` would swallow. It is gone after an error too: the driver
    /// may have destroyed it all the same, so that it must not be destroyed again.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuCtxDestroy_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxDestroy_v2")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.0.close()
    }
}

context_owner!(Context);

/// Destroys a context of which no object is left: each borrows the owner or has a share.
///
/// It leaks if a forgotten token may have left it current and the driver cannot be asked: popping it behind the
/// thread's record would let a token below be used with another context.
fn destroy(context: &ContextRef) -> Result<(), Error> {
    let on_top = stack::is_left_on_top(context)?;
    let destroyed = captures::free_beside(context.library(), || {
        // SAFETY: the handle is live: only `close`, `Drop` and the last share destroy it, and each takes the owner.
        unsafe { driver_call!(context.library(), cuCtxDestroy_v2(context.as_raw())) }
    });
    if on_top {
        stack::forget_top(context.as_raw());
    }
    destroyed.inspect_err(|_| {
        if on_top {
            stack::is_uncertain(context.library(), context.as_raw());
        }
    })
}
