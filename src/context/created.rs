//! Contexts that this process creates and destroys.

use cuprum_sys::{CUcontext, CUctx_flags, CUctxCreateParams};

use super::current::borrowed;
use super::{ContextRef, captures, context_owner, stack};
use crate::device::Device;
use crate::error::Error;
use crate::raw::call::{driver_call, either_call};
use crate::raw::flags::flags;
use crate::raw::owner::close;

flags! {
    /// Options of a context. Bits that this crate does not name are passed on.
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::context::{Context, ContextFlags};
    ///
    /// let context = Context::create(driver.device(0)?, ContextFlags::BLOCKING_SYNC)?; // waits sleep
    /// context.close()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct ContextFlags: u32 {
        /// The host spins while it waits for the device: lowest latency, one busy core.
        const SPIN = CUctx_flags::CU_CTX_SCHED_SPIN.0;
        /// The host yields its core while it waits.
        const YIELD = CUctx_flags::CU_CTX_SCHED_YIELD.0;
        /// The host sleeps while it waits: lowest load, highest latency.
        const BLOCKING_SYNC = CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC.0;
        /// Host memory can be mapped into the device's address space. Always on for current
        /// devices.
        const MAP_HOST = CUctx_flags::CU_CTX_MAP_HOST.0;
        /// Local memory stays allocated after a kernel that needed it.
        const LMEM_RESIZE_TO_MAX = CUctx_flags::CU_CTX_LMEM_RESIZE_TO_MAX.0;
        const _ = !0;
    }
}

/// A context that this process creates, and destroys on drop.
///
/// Prefer [`PrimaryContext`](super::PrimaryContext) if other CUDA libraries run in the same
/// process, because they all share the primary context. A separate context has separate memory,
/// limits and flags. It does not isolate faults: on hardware, a kernel fault ends CUDA for the
/// whole process (see [Faults](crate#faults)).
///
/// It cannot be dropped while an object made in it exists.
///
/// # Keeping it in a struct
///
/// A struct cannot hold a context and a [`Buffer`](crate::Buffer) that borrows it:
/// [share](Context::share) the context. Objects of a [shared context](crate::Shared) borrow
/// nothing. The struct can be moved, sent, kept in a `static` and dropped in any order.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::{Context, ContextFlags, ContextStack};
/// use cuprum::Buffer;
///
/// // The host sleeps while it waits; `SPIN` would be faster but occupy a core.
/// let context = Context::create(driver.device(0)?, ContextFlags::BLOCKING_SYNC)?;
/// let mut stack = ContextStack::take()?;
/// let cx = stack.push(&context)?;
/// let zeros = Buffer::<u32>::zeroed(&cx, 4)?;
/// assert_eq!(zeros.to_vec(&cx)?, [0; 4]);
///
/// // The compiler enforces this order: objects of the context, the token, the context.
/// drop(zeros);
/// drop(cx);
/// context.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Context(ContextRef);

impl Context {
    /// Creates a context on `device`. The context does not become current; push it.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`, `CUDA_ERROR_INVALID_DEVICE` and others that the driver reports;
    /// [`Error::FORKED`] in a forked child.
    ///
    /// Driver: `cuCtxCreate_v2`, CUDA 3.2+, or `cuCtxCreate_v4`, CUDA 12.5+, where a driver has
    /// only that; then `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuCtxCreate_v2", "cuCtxCreate_v4"))]
    pub fn create(device: Device, flags: ContextFlags) -> Result<Self, Error> {
        let library = device.library();
        let (mut raw, flags) = (CUcontext::null(), flags.bits());
        let mut params = CUctxCreateParams::zeroed();
        let (to_raw, params) = (&raw mut raw, &raw mut params);
        // SAFETY: the handle and the parameters, which are zero and so ask for an ordinary context,
        // outlive the call; the device belongs to this driver.
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
                // The failed call may have taken effect. Dropping the context also pops it.
                drop(ContextRef::new(raw, device).ended_by(destroy));
            }
            return Err(error);
        }
        let context = Self(ContextRef::new(raw, device).ended_by(destroy));
        let mut popped = CUcontext::null();
        // SAFETY: `popped` outlives the call; creation left the new context on top of the stack.
        let unpushed = unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) };
        unpushed.inspect_err(|_| stack::is_uncertain(library, raw)).map(|()| context)
    }

    close!("Destroys the context", "cuCtxDestroy_v2", "4.0", |this| this.0.close());
}

context_owner!(Context);

borrowed! { Context }

/// Destroys a context without objects: each object borrows the owner or holds a share.
///
/// Leaks the context if a forgotten token may have left it current and the driver cannot be
/// queried. Popping it without updating the record would make a token below work in another
/// context.
fn destroy(context: &ContextRef) -> Result<(), Error> {
    let on_top = stack::is_left_on_top(context)?;
    let destroyed = captures::free_beside(context.library(), || {
        // SAFETY: the handle is live: only `close`, `Drop` and the last share destroy it, and each
        // takes the owner.
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
