//! Streams and events of other code, with or without ownership.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use cuprum_sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUevent, CUresult, CUstream, CUstream_flags, FnId};

use super::{Event, Stream, StreamKind};
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::raw::debug::debug;
use crate::raw::held::Held;

impl<'ctx> Stream<'ctx> {
    /// Takes ownership of a stream of other code. [`ForeignStream`] borrows it instead.
    ///
    /// If this fails, the other code keeps ownership.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_HANDLE` for the per-thread default stream, handle 2, which is a
    /// different queue on each thread; other errors of the driver's query of the stream's kind.
    ///
    /// # Safety
    /// 1. `raw` is a live stream of the context of `cx`. Handles 0 and 1 stand for the legacy
    ///    default stream, which is never destroyed.
    /// 2. No other code destroys it.
    /// 3. While work is queued through the value, the stream is captured only by a
    ///    [capture](Current::capture) that borrows this value: neither by other code, nor because
    ///    it waits for an event of a capture. Loans, moved values and host functions are valid for
    ///    one run, not for replays of a graph.
    ///
    /// Driver: `cuStreamGetFlags`, CUDA 5.5+; none for a default stream.
    #[doc(alias = "cuStreamGetFlags")]
    #[inline]
    pub unsafe fn from_raw(cx: &Current<'_, 'ctx>, raw: CUstream) -> Result<Self, Error> {
        let context = cx.get()?;
        if raw == CU_STREAM_PER_THREAD {
            return Err(Error::host(CUresult::CUDA_ERROR_INVALID_HANDLE, FnId::cuStreamGetFlags));
        }
        if raw.is_null() || raw == CU_STREAM_LEGACY {
            return Ok(Self::default_in(cx));
        }
        let mut flags = 0;
        // SAFETY: the caller guarantees the stream; `flags` outlives the call.
        unsafe { context_call!(&context, cuStreamGetFlags(raw, &raw mut flags)) }?;
        let beside = flags & CUstream_flags::CU_STREAM_NON_BLOCKING.0 != 0;
        let kind = if beside { StreamKind::NonBlocking } else { StreamKind::Blocking };
        Ok(Self { kind: kind.in_context(&context), queue: Held::new(raw, context) })
    }

    /// Releases ownership without destroying the stream.
    #[inline]
    pub fn into_raw(self) -> CUstream {
        self.queue.into_raw()
    }
}

impl<'ctx> Event<'ctx> {
    /// Takes ownership of an event that other code has created in the current context. Makes no
    /// driver call. [`ForeignEvent`] borrows it instead.
    ///
    /// # Safety
    /// 1. `raw` is a live event of the context of `cx`.
    /// 2. No other code destroys it.
    /// 3. When a stream waits for it, its last record is not in a stream that is being captured.
    ///    Otherwise the waiting stream would become part of the capture, but its loans, moved
    ///    values and host functions are valid for one run, not for replays.
    #[inline]
    pub unsafe fn from_raw(cx: &Current<'_, 'ctx>, raw: CUevent) -> Self {
        Self(Held::new(raw, cx.near()))
    }

    /// Releases ownership without destroying the event.
    #[inline]
    pub fn into_raw(self) -> CUevent {
        self.0.into_raw()
    }
}

/// A stream that other code owns. It dereferences to [`Stream`], and is not destroyed.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::ForeignStream;
/// use cuprum::{Buffer, Stream};
///
/// # let theirs = Stream::new(&cx)?;
/// # let handle = theirs.as_raw();
/// // SAFETY: the handle is a live stream of this context, which its owner keeps, and does not capture.
/// let stream = unsafe { ForeignStream::from_raw(&cx, handle) }?;
/// let mut buffer = Buffer::<u32>::zeroed(&cx, 4)?;
/// cx.scope(&stream, |scope| Ok(scope.fill(&scope.lend(buffer.as_mut_slice())?, 7)?))?;
/// assert_eq!(buffer.to_vec(&cx)?, [7; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ForeignStream<'ctx>(ManuallyDrop<Stream<'ctx>>);

impl<'ctx> ForeignStream<'ctx> {
    /// Borrows a stream of other code by its handle.
    ///
    /// # Errors
    /// Same as [`Stream::from_raw`].
    ///
    /// # Safety
    /// 1. `raw` is a stream of the context of `cx`, as in [`Stream::from_raw`].
    /// 2. It outlives the value.
    /// 3. While work is queued through the value, the stream is not being captured, neither by its
    ///    owner nor because it waits for an event of a capture. Otherwise each replay would call
    ///    the functions of [`Stream::call_host`] again, and write memory after the scope that
    ///    borrowed it has ended.
    ///
    /// Driver: `cuStreamGetFlags`, CUDA 5.5+; none for a default stream.
    #[doc(alias = "cuStreamGetFlags")]
    #[inline]
    pub unsafe fn from_raw(cx: &Current<'_, 'ctx>, raw: CUstream) -> Result<Self, Error> {
        // SAFETY: duties 1 to 3; the stream is not destroyed, because it is never dropped.
        unsafe { Stream::from_raw(cx, raw) }.map(|stream| Self(ManuallyDrop::new(stream)))
    }
}

/// An event that other code owns. It dereferences to [`Event`], and is not destroyed.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::{Event, EventFlags, ForeignEvent};
/// use cuprum::Stream;
///
/// # let theirs = Event::new(&cx, EventFlags::DISABLE_TIMING)?;
/// # let handle = theirs.as_raw();
/// // SAFETY: the handle is a live event of this context, which its owner keeps and records in no capture.
/// let event = unsafe { ForeignEvent::from_raw(&cx, handle) };
/// Stream::new(&cx)?.wait_event(&cx, &event)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ForeignEvent<'ctx>(ManuallyDrop<Event<'ctx>>);

impl<'ctx> ForeignEvent<'ctx> {
    /// Borrows an event of other code by its handle. No driver call.
    ///
    /// # Safety
    /// 1. `raw` is an event of the context of `cx`, and outlives the value.
    /// 2. Same as the third duty of [`Event::from_raw`].
    #[inline]
    pub unsafe fn from_raw(cx: &Current<'_, 'ctx>, raw: CUevent) -> Self {
        // SAFETY: duties 1 and 2.
        Self(ManuallyDrop::new(unsafe { Event::from_raw(cx, raw) }))
    }
}

/// Common part of the types that borrow a handle: they dereference to the owner's type. Drop
/// releases only the context.
macro_rules! foreign {
    ($name:ident of $owner:ident) => {
        impl<'ctx> Deref for $name<'ctx> {
            type Target = $owner<'ctx>;

            fn deref(&self) -> &$owner<'ctx> {
                &self.0
            }
        }

        impl Drop for $name<'_> {
            fn drop(&mut self) {
                // SAFETY: taken once, because this is dropped once.
                let _theirs = unsafe { ManuallyDrop::take(&mut self.0) }.into_raw();
            }
        }

        debug!($name<'_>: |this, f| f.debug_tuple(stringify!($name)).field(&*this.0).finish());
    };
}

foreign!(ForeignStream of Stream);
foreign!(ForeignEvent of Event);
