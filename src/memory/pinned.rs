//! Page-locked memory that the driver allocates.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use cuprum_sys::{CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_WRITECOMBINED, FnId};

use super::caching::PinnedLease;
use super::locked::{Locked, locked};
use super::place::kind::Host;
use super::place::place;
use super::{DeviceData, MemoryError, bytes_of};
use crate::context::{ContextRef, Current, KeptContext, context_call};
use crate::error::Error;
use crate::raw::flags::flags;
use crate::raw::held::{Held, handle};

flags! {
    /// Options of an allocation of page-locked memory.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::memory::{PinnedBuffer, PinnedFlags};
    ///
    /// let flags = PinnedFlags::PORTABLE | PinnedFlags::WRITE_COMBINED;
    /// let input = PinnedBuffer::<f32>::zeroed(&cx, 1000, flags)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct PinnedFlags: u32 {
        /// Page-locked for all contexts of the driver, so it can be lent to their scopes too.
        const PORTABLE = CU_MEMHOSTALLOC_PORTABLE;
        /// Kernels can access it by a device address. Not needed with unified addressing.
        const MAPPED = CU_MEMHOSTALLOC_DEVICEMAP;
        /// Fast for sequential host writes and device reads; very slow for host reads.
        const WRITE_COMBINED = CU_MEMHOSTALLOC_WRITECOMBINED;
    }
}

/// An allocation by its address; null for none.
#[derive(Clone, Copy)]
struct HostAllocation(*mut c_void);

// SAFETY: the driver allows any thread to use and to free host memory.
handle!(unsafe HostAllocation: "HostAllocation", owned if |raw| !raw.0.is_null(), |raw| cuMemFreeHost(raw.0));

/// The source of the memory, and how it is released.
enum Memory<'ctx> {
    Own(Held<'ctx, HostAllocation>),
    Leased(PinnedLease<'ctx>),
}

impl Memory<'_> {
    const fn start(&self) -> *mut c_void {
        match self {
            Self::Own(memory) => memory.raw().0,
            Self::Leased(lease) => lease.start(),
        }
    }

    fn context(&self) -> &ContextRef {
        match self {
            Self::Own(memory) => memory.context(),
            Self::Leased(lease) => lease.context(),
        }
    }

    /// Leaks the memory and its context.
    #[cold]
    fn lose(self) {
        match self {
            Self::Own(memory) => std::mem::forget(memory),
            Self::Leased(lease) => lease.lose(),
        }
    }
}

/// Elements in page-locked host memory. It dereferences to a slice, and a device copies from and to
/// it in parallel with the host.
///
/// For writes by the device, lend it to a [scope](crate::stream::Scope::lend), or move it into a
/// [`Request`](crate::stream::Request); the host cannot access it meanwhile. For reads by the
/// device, [`Scope::copy`](crate::stream::Scope::copy) borrows it like any slice. It can be sent to
/// any thread and dropped there.
///
/// # When it is lost
///
/// After a kernel has faulted, all waits return immediately, while the device continues to write
/// page-locked memory, and no call reports when it stops. If a scope ends in this way, the memory
/// lent to it is lost: it dereferences to an empty slice, can no longer be lent, and is not freed.
/// A borrowed context frees it when it ends, which waits for the copies of all contexts; a shared
/// context is kept for it. See [`is_lost`](PinnedBuffer::is_lost).
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::PinnedFlags;
/// use cuprum::{Buffer, PinnedBuffer, Stream};
///
/// let stream = Stream::new(&cx)?;
/// let input = PinnedBuffer::from_slice(&cx, &[1u32, 2, 3], PinnedFlags::empty())?;
/// let mut output = PinnedBuffer::<u32>::zeroed(&cx, 3, PinnedFlags::empty())?;
/// let mut buffer = Buffer::<u32>::alloc(&cx, 3)?;
/// cx.scope(&stream, |scope| {
///     let (lent, output) = (scope.lend(&mut buffer)?, scope.lend(&mut output)?);
///     scope.copy(&lent, &input)?; // neither copy makes the host wait
///     Ok(scope.copy(&output, &lent)?)
/// })?;
/// assert_eq!(output[..], [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PinnedBuffer<'ctx, T: DeviceData> {
    elements: Locked<T>,
    /// Taken when this is dropped.
    memory: ManuallyDrop<Memory<'ctx>>,
}

impl<'ctx, T: DeviceData> PinnedBuffer<'ctx, T> {
    /// Allocates `len` elements and sets all their bytes to zero. Allocates nothing for zero bytes.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; [`MemoryError::Alignment`] for an alignment greater than a page;
    /// `CUDA_ERROR_OUT_OF_MEMORY`, also if the system refuses to lock more pages.
    ///
    /// Driver: `cuMemHostAlloc`, CUDA 2.2+.
    #[doc(alias = "cuMemHostAlloc")]
    #[inline]
    pub fn zeroed(cx: &Current<'_, 'ctx>, len: usize, flags: PinnedFlags) -> Result<Self, MemoryError> {
        Self::filled(cx, len, flags, |start| {
            // SAFETY: there are `len` elements, which were just allocated.
            unsafe { start.write_bytes(0, len) }
        })
    }

    /// Allocates a buffer of the length of `host`, and copies `host` there on the host.
    ///
    /// # Errors
    /// Same as [`zeroed`](PinnedBuffer::zeroed).
    ///
    /// Driver: `cuMemHostAlloc`, CUDA 2.2+.
    #[doc(alias = "cuMemHostAlloc")]
    #[inline]
    pub fn from_slice(cx: &Current<'_, 'ctx>, host: &[T], flags: PinnedFlags) -> Result<Self, MemoryError> {
        Self::filled(cx, host.len(), flags, |start| {
            // SAFETY: there are as many elements as in `host`, which were just allocated.
            unsafe { start.copy_from_nonoverlapping(host.as_ptr(), host.len()) }
        })
    }

    /// Allocates `len` elements without initializing them or touching their pages.
    ///
    /// # Errors
    /// Same as [`zeroed`](PinnedBuffer::zeroed).
    ///
    /// Driver: `cuMemHostAlloc`, CUDA 2.2+.
    #[doc(alias = "cuMemHostAlloc")]
    #[inline]
    pub fn alloc(cx: &Current<'_, 'ctx>, len: usize, flags: PinnedFlags) -> Result<Self, MemoryError> {
        // The system makes the pages in a call that is opaque to the compiler, so they have some
        // bytes, and any bytes are a `T`. This does not hold in a pool, whose blocks can contain
        // the padding of earlier elements.
        Self::filled(cx, len, flags, |_| ())
    }

    fn filled(
        cx: &Current<'_, 'ctx>,
        len: usize,
        flags: PinnedFlags,
        fill: impl FnOnce(*mut T),
    ) -> Result<Self, MemoryError> {
        let bytes = bytes_of::<T>(len)?;
        let context = cx.get()?;
        let mut start = ptr::null_mut();
        if bytes != 0 {
            let flags = (flags & PinnedFlags::all()).bits();
            // SAFETY: `start` outlives the call, and `cx` proves a current context.
            unsafe { context_call!(&context, cuMemHostAlloc(&raw mut start, bytes, flags)) }?;
        }
        Self::within(Memory::Own(Held::new(HostAllocation(start), context)), len, flags, fill)
    }

    /// `len` elements in a block of a pool, which `fill` initializes; zero bytes have no block.
    pub(super) fn leased(
        lease: Option<PinnedLease<'ctx>>,
        context: &KeptContext<'ctx>,
        len: usize,
        flags: PinnedFlags,
        fill: impl FnOnce(*mut T),
    ) -> Result<Self, MemoryError> {
        let none = || Memory::Own(Held::kept(HostAllocation(ptr::null_mut()), context.clone()));
        Self::within(lease.map_or_else(none, Memory::Leased), len, flags, fill)
    }

    /// `memory` has room for `len` elements, and no other users.
    fn within(
        memory: Memory<'ctx>,
        len: usize,
        flags: PinnedFlags,
        fill: impl FnOnce(*mut T),
    ) -> Result<Self, MemoryError> {
        let start = NonNull::new(memory.start()).map_or(NonNull::dangling(), NonNull::cast::<T>);
        if !start.is_aligned() {
            return Err(MemoryError::Alignment { align: align_of::<T>() });
        }
        fill(start.as_ptr());
        // SAFETY: there are `len` initialized, aligned elements with no other users.
        let elements = unsafe { Locked::new(start, len, flags.contains(PinnedFlags::PORTABLE)) };
        Ok(Self { elements, memory: ManuallyDrop::new(memory) })
    }

    /// Returns the flags of the allocation, as the driver reports them; none for zero bytes.
    ///
    /// An H200 (driver 580) reports that all memory is mapped. Small allocations share `PORTABLE`
    /// with the first whose pages they use.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuMemHostGetFlags`, CUDA 2.3+.
    #[doc(alias = "cuMemHostGetFlags")]
    #[inline]
    pub fn flags(&self, cx: &Current<'_, '_>) -> Result<PinnedFlags, Error> {
        let context = cx.of(self.context(), FnId::cuMemHostGetFlags)?;
        let (start, mut flags) = (self.memory.start(), 0);
        if !start.is_null() {
            // SAFETY: the allocation is live, and the out-parameter outlives the call.
            unsafe { context_call!(context, cuMemHostGetFlags(&raw mut flags, start)) }?;
        }
        Ok(PinnedFlags::from_bits_retain(flags))
    }

    /// Frees the memory and returns the error that `Drop` would swallow.
    /// [Lost](PinnedBuffer::is_lost) memory is left as it is, without a call; memory of a
    /// [pool](crate::pool::PinnedPool) returns to it.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors). The buffer no longer exists after an error either.
    ///
    /// Driver: `cuMemFreeHost`, CUDA 2.0+.
    #[doc(alias = "cuMemFreeHost")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken once, from a value that is not dropped.
        let memory = unsafe { ManuallyDrop::take(&mut this.memory) };
        // Freeing does not wait for copies of other contexts (H100, driver 580: they end in a
        // fault). Ending the memory's own context does.
        if this.is_lost() {
            memory.lose();
            return Ok(());
        }
        match memory {
            Memory::Own(memory) => memory.close(),
            Memory::Leased(_goes_back) => Ok(()),
        }
    }
}

impl<T: DeviceData> Drop for PinnedBuffer<'_, T> {
    fn drop(&mut self) {
        // SAFETY: taken once, here, where the value has no users any more.
        let memory = unsafe { ManuallyDrop::take(&mut self.memory) };
        if self.is_lost() {
            memory.lose();
        }
    }
}

locked!([T: DeviceData] PinnedBuffer: T, |this| this.memory.context());

place!([T: DeviceData] PinnedBuffer<'_, T>: Host, of T, read |this| this, write |this| this);
