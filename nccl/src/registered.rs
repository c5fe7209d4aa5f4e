//! Memory that is registered with a communicator.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

use cuprum::Buffer;
use cuprum::memory::{Slice, SliceMut};

use crate::owner::Shared;
use crate::raw::nccl_call;
use crate::{Communicator, Element, Nccl, NcclError};

/// A buffer that is registered with a communicator, so that collectives on it need no copies of
/// NCCL's own.
///
/// It owns the buffer: if it is forgotten, both leak. Collectives take it by loans of its
/// [slice](Self::as_slice).
///
/// ```
/// # cuprum_nccl_stand_in::example!(nccl, context);
/// use cuprum::{Buffer, Stream};
/// use cuprum_nccl::{Communicator, Config, RegisteredBuffer, Reduction};
///
/// context.enter(|cx| {
///     let alone = Communicator::init_rank(nccl, cx, nccl.unique_id()?, 0, 1, Config::default())?;
///     let stream = Stream::new(cx)?;
///     let mut numbers = RegisteredBuffer::new(&alone, Buffer::from_slice(cx, &[1u64, 2])?)?;
///     cx.scope(&stream, |scope| {
///         let numbers = scope.lend(numbers.as_mut_slice())?;
///         Ok(alone.all_reduce(scope, &numbers, &numbers, Reduction::Max)?)
///     })?;
///     assert_eq!(numbers.into_buffer()?.to_vec(cx)?, [1, 2]);
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RegisteredBuffer<T: Element> {
    member: Arc<Shared>,
    handle: Handle,
    buffer: ManuallyDrop<Buffer<'static, T>>,
}

struct Handle(*mut c_void);

// SAFETY: the handle is only given to NCCL, with the communicator locked.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl<T: Element> RegisteredBuffer<T> {
    /// Registers a buffer of the communicator's context. After an error the buffer is dropped.
    ///
    /// # Errors
    /// [`NcclError::Elsewhere`]; [`NcclError::Missing`] before NCCL 2.19; [`NcclError::Call`];
    /// [`NcclError::Aborted`]; [`NcclError::InProgress`].
    ///
    /// NCCL: `ncclCommRegister`, 2.19+.
    #[doc(alias = "ncclCommRegister")]
    pub fn new(member: &Communicator, buffer: Buffer<'static, T>) -> Result<Self, NcclError> {
        if *buffer.context() != *member.context() {
            return Err(NcclError::Elsewhere("the buffer belongs to another context than the communicator"));
        }
        let address = ptr::without_provenance_mut::<c_void>(buffer.as_raw() as usize);
        let (bytes, mut handle) = (buffer.len() * size_of::<T>(), ptr::null_mut());
        member.shared().call(|nccl, comm| {
            // SAFETY: the buffer has so many bytes and is freed after the registration ends; the
            // place outlives the call.
            unsafe { nccl_call!(nccl, ncclCommRegister(comm, address, bytes, &raw mut handle)) }
        })?;
        Ok(Self { member: member.share(), handle: Handle(handle), buffer: ManuallyDrop::new(buffer) })
    }

    /// The elements, to be lent.
    #[must_use]
    pub fn as_slice(&self) -> Slice<'_, T> {
        self.buffer.as_slice()
    }

    /// The elements, to be lent and written.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> SliceMut<'_, T> {
        self.buffer.as_mut_slice()
    }

    /// Ends the registration and returns the buffer.
    ///
    /// # Errors
    /// [`NcclError::Call`]. Then the buffer leaks, since it may still be registered.
    ///
    /// NCCL: `ncclCommDeregister`, 2.19+.
    #[doc(alias = "ncclCommDeregister")]
    pub fn into_buffer(self) -> Result<Buffer<'static, T>, NcclError> {
        let mut this = ManuallyDrop::new(self);
        let ended = this.end();
        // SAFETY: each field is taken once, here, as the whole is not dropped.
        let buffer = unsafe { ManuallyDrop::take(&mut this.buffer) };
        // SAFETY: as above.
        drop(unsafe { ptr::read(&raw const this.member) });
        match ended {
            Ok(()) => Ok(buffer),
            Err(error) => {
                std::mem::forget(buffer);
                Err(error)
            }
        }
    }

    /// Ends the registration, unless it has ended with its communicator.
    fn end(&self) -> Result<(), NcclError> {
        let handle = self.handle.0;
        // SAFETY: the communicator is live and locked, and has the handle, which is not used again.
        let end = |nccl: Nccl, comm| unsafe { nccl_call!(nccl, ncclCommDeregister(comm, handle)) };
        match self.member.call(end) {
            Err(NcclError::Aborted { .. }) => Ok(()),
            ended => ended,
        }
    }
}

/// Ends the registration, and frees the buffer; if that fails, the buffer leaks.
/// [`RegisteredBuffer::into_buffer`] reports an error.
impl<T: Element> Drop for RegisteredBuffer<T> {
    fn drop(&mut self) {
        if self.end().is_ok() {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}

impl<T: Element> fmt::Debug for RegisteredBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RegisteredBuffer").field(&*self.buffer).finish()
    }
}
