//! Page-locked memory of the host's own allocator.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use cuprum_sys::{CU_MEMHOSTREGISTER_DEVICEMAP, CU_MEMHOSTREGISTER_PORTABLE, CUresult};

use super::locked::{Locked, locked};
use super::place::kind::Host;
use super::place::place;
use super::register_error::RegisterError;
use super::{DeviceData, MemoryError, bytes_of};
use crate::context::{ContextRef, Current, captures, context_call};
use crate::error::Error;
use crate::raw::flags::flags;
use crate::raw::held::{Held, handle};

flags! {
    /// Options of a registration.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::memory::{RegisterFlags, Registered};
    ///
    /// let host = Registered::new(&cx, vec![0u32; 1000], RegisterFlags::PORTABLE)?;
    /// assert_eq!(host.unregister()?, [0; 1000]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct RegisterFlags: u32 {
        /// Page-locked for all contexts of the driver, so it can be lent to their scopes too.
        const PORTABLE = CU_MEMHOSTREGISTER_PORTABLE;
        /// Kernels can access it by a device address. Not needed with unified addressing.
        const MAPPED = CU_MEMHOSTREGISTER_DEVICEMAP;
    }
}

/// A registration, by the address of the memory; null for none.
#[derive(Clone, Copy)]
struct Registration(*mut c_void);

// SAFETY: the driver allows any thread to unregister memory.
handle! {
    unsafe Registration: "Registration", owned if |raw| !raw.0.is_null(),
    |raw| cuMemHostUnregister(raw.0)
}

pub(crate) use self::owner::HostOwner;

mod owner {
    use std::ptr;

    use super::{DeviceData, NonNull};

    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be registered",
        label = "a `Vec<T>` or a `Box<[T]>` of plain data can: it has to own its elements"
    )]
    /// An owner of elements on the heap: `Vec<T>` or `Box<[T]>`.
    pub trait HostOwner: Sized {
        type Element: DeviceData;
        /// Address, length and capacity. The parts claim no rights to the elements.
        fn into_parts(self) -> (NonNull<Self::Element>, usize, usize);
        /// # Safety
        /// The parts come from `into_parts`, and are used once.
        unsafe fn from_parts(start: NonNull<Self::Element>, len: usize, capacity: usize) -> Self;
    }

    impl<T: DeviceData> HostOwner for Vec<T> {
        type Element = T;

        fn into_parts(self) -> (NonNull<T>, usize, usize) {
            // The pointer to the whole allocation: a pointer to the elements may not be used for
            // the spare capacity after them.
            let mut this = std::mem::ManuallyDrop::new(self);
            let start = NonNull::new(this.as_mut_ptr()).unwrap_or(NonNull::dangling());
            (start, this.len(), this.capacity())
        }

        unsafe fn from_parts(start: NonNull<T>, len: usize, capacity: usize) -> Self {
            // SAFETY: guaranteed by the caller.
            unsafe { Self::from_raw_parts(start.as_ptr(), len, capacity) }
        }
    }

    impl<T: DeviceData> HostOwner for Box<[T]> {
        type Element = T;

        fn into_parts(self) -> (NonNull<T>, usize, usize) {
            let len = self.len();
            (NonNull::from(Self::leak(self)).cast(), len, len)
        }

        unsafe fn from_parts(start: NonNull<T>, len: usize, _capacity: usize) -> Self {
            // SAFETY: guaranteed by the caller.
            unsafe { Self::from_raw(ptr::slice_from_raw_parts_mut(start.as_ptr(), len)) }
        }
    }
}

/// A `Vec<T>` or `Box<[T]>` whose elements are page-locked while it owns them.
///
/// It is used like a [`PinnedBuffer`](super::PinnedBuffer), and can also be
/// [lost](super::PinnedBuffer#when-it-is-lost); then the memory never returns to the allocator.
/// [`unregister`](Registered::unregister) returns the owner; drop unregisters and drops it, on any
/// thread. If the driver does not confirm that, the memory leaks, because the device may still use
/// it.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{RegisterFlags, Registered};
/// use cuprum::{Buffer, Stream};
///
/// let stream = Stream::new(&cx)?;
/// let mut buffer = Buffer::from_slice(&cx, &[7u32; 1000])?;
/// let mut host = Registered::new(&cx, vec![0u32; 1000], RegisterFlags::empty())?;
/// cx.scope(&stream, |scope| {
///     Ok(scope.copy(&scope.lend(&mut host)?, &scope.lend(&mut buffer)?)?)
/// })?;
/// let host: Vec<u32> = host.unregister()?;
/// assert_eq!(host, [7; 1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Registered<'ctx, O: HostOwner> {
    elements: Locked<O::Element>,
    capacity: usize,
    /// Taken by drop and by `unregister`.
    registration: ManuallyDrop<Held<'ctx, Registration>>,
    _owner: PhantomData<O>,
}

impl<'ctx, O: HostOwner> Registered<'ctx, O> {
    /// Locks the pages of the elements, without spare capacity. Registers nothing for zero bytes.
    ///
    /// If the driver refuses, the memory is unregistered, in case the call took effect.
    ///
    /// # Errors
    /// [`RegisterError`], with the memory if the driver has certainly not registered it:
    /// `CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED`; `CUDA_ERROR_OUT_OF_MEMORY` or
    /// `CUDA_ERROR_INVALID_VALUE` if the system refuses to lock more pages.
    ///
    /// Driver: `cuMemHostRegister_v2`, CUDA 6.5+; if that fails, `cuMemHostUnregister`, CUDA 4.0+,
    /// and if a capture forbids that, `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias("cuMemHostRegister_v2", "cuMemHostUnregister"))]
    #[inline]
    pub fn new(cx: &Current<'_, 'ctx>, memory: O, flags: RegisterFlags) -> Result<Self, RegisterError<O>> {
        let (start, len, capacity) = memory.into_parts();
        // SAFETY: the parts of the owner, used only here.
        let owner = || unsafe { O::from_parts(start, len, capacity) };
        let (bytes, context) = match bytes_of::<O::Element>(len).and_then(|bytes| Ok((bytes, cx.get()?))) {
            Ok(found) => found,
            Err(error) => return Err(RegisterError { error, memory: Some(owner()) }),
        };
        let mut registered = ptr::null_mut();
        if bytes != 0 {
            let at = start.as_ptr().cast::<c_void>();
            let flags = (flags & RegisterFlags::all()).bits();
            // SAFETY: the bytes exist until they are unregistered, and `cx` proves a current
            // context.
            if let Err(error) = unsafe { context_call!(&context, cuMemHostRegister_v2(at, bytes, flags)) } {
                let memory = is_not_registered(&context, at, error).then(owner);
                return Err(RegisterError { error: error.into(), memory });
            }
            registered = at;
        }
        let registration = ManuallyDrop::new(Held::new(Registration(registered), context));
        // SAFETY: the owner's elements, to which its parts claim no rights.
        let elements = unsafe { Locked::new(start, len, flags.contains(RegisterFlags::PORTABLE)) };
        Ok(Self { elements, capacity, registration, _owner: PhantomData })
    }

    /// Unregisters the memory and returns its owner.
    ///
    /// # Errors
    /// [`MemoryError::Lost`], without a call; any error of the driver. Then the memory leaks.
    ///
    /// Driver: `cuMemHostUnregister`, CUDA 4.0+; if a capture forbids it,
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuMemHostUnregister")]
    #[inline]
    pub fn unregister(self) -> Result<O, MemoryError> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken once, from a value that is not dropped.
        let registration = unsafe { ManuallyDrop::take(&mut this.registration) };
        if this.is_lost() {
            std::mem::forget(registration);
            return Err(MemoryError::Lost);
        }
        registration.end()?;
        // SAFETY: the parts of the owner, used once; the device no longer uses them.
        Ok(unsafe { this.owner() })
    }

    /// # Safety
    /// It is called once, and the elements have no users any more.
    unsafe fn owner(&self) -> O {
        // SAFETY: parts of the owner; the rest is guaranteed by the caller.
        unsafe { O::from_parts(self.elements.start(), self.elements.len(), self.capacity) }
    }
}

/// Unregisters memory of the current context that no work uses, whether it is registered or not.
fn unregister(context: &ContextRef, at: *mut c_void) -> Result<(), Error> {
    // SAFETY: the device does not use the memory, registered or not.
    match unsafe { context_call!(context, cuMemHostUnregister(at)) } {
        Err(error) if error.code() == CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED => Ok(()),
        answer => answer,
    }
}

/// True if a failed call has certainly not registered the memory. Unregisters it in case of doubt.
#[cold]
fn is_not_registered(context: &ContextRef, at: *mut c_void, error: Error) -> bool {
    let by_others = error.code() == CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if by_others || error.is_unresolved() || error.is_forked() {
        // Other code has registered the memory, or the call never reached the driver.
        return true;
    }
    captures::free_beside(context.library(), || unregister(context, at)).is_ok()
}

impl<O: HostOwner> Drop for Registered<'_, O> {
    fn drop(&mut self) {
        // SAFETY: taken once, here, where the value has no users any more.
        let registration = unsafe { ManuallyDrop::take(&mut self.registration) };
        if self.is_lost() {
            std::mem::forget(registration);
            return;
        }
        let context = registration.keep();
        match registration.end() {
            // SAFETY: called once, here; the device no longer uses the elements.
            Ok(()) => drop(unsafe { self.owner() }),
            Err(error) => context.swallow(error),
        }
    }
}

locked!([O: HostOwner] Registered: O::Element, |this| this.registration.context());

place! {
    [T: DeviceData, O: HostOwner<Element = T>] Registered<'_, O>: Host, of T,
    read |this| this, write |this| this
}
