//! Mapped resources: the guard, and the memory that it lends.

use std::marker::PhantomData;

use cuprum_sys::{CUgraphicsResource, CUresult, CUstream, FnId};

#[cfg(doc)]
use super::MappedBuffer;
#[cfg(doc)]
use super::MappedImage;
use super::Resources;
use super::resources::sealed::Each;
use crate::context::{Beside, ContextRef, Current, captures, context_call};
use crate::error::Error;
use crate::memory::copy;
use crate::raw::call::forked;
use crate::raw::debug::debug;
use crate::raw::held::activated;
use crate::raw::keep::Near;
use crate::stream::Stream;

/// Maps several resources in one call: until the guard ends, OpenGL must not use them.
///
/// OpenGL commands issued before complete before any later work on `stream`. The host does not
/// wait, unless the stream is [non-blocking](crate::stream::StreamKind::NonBlocking): then it waits
/// for the stream now, and for the default stream before it unmaps, because slices of the mapped
/// memory are copied and filled there. Does nothing without resources. A resource that may still be
/// mapped, after a forgotten guard or an error, is unmapped first.
///
/// # Errors
/// `CUDA_ERROR_INVALID_GRAPHICS_CONTEXT` if no OpenGL context with the resources is current;
/// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` during a capture; [`Error::WRONG_CONTEXT`] unless all
/// are registered with the current context, which must also be the stream's.
///
/// # Example
/// ```
/// # cuprum::example!(software driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer, RegisteredImage};
///
/// # let gl = cuprum_emulator::opengl::StandIn::make_current();
/// # let (buffer, texture) = (gl.buffer(&[0; 16]), gl.texture(0x8229, 4, 1, &[1, 2, 3, 4]));
/// let none = RegisterFlags::empty();
/// // SAFETY: OpenGL neither deletes the buffer nor uses it while it is mapped, and stays current on this thread.
/// let mut sums = unsafe { RegisteredBuffer::new(&cx, buffer, none) }?;
/// // SAFETY: the same applies to the texture.
/// let mut picture = unsafe { RegisteredImage::new(&cx, texture, 0x0DE1, none) }?;
///
/// let stream = Stream::default_in(&cx);
/// let mut mapped: graphics::Mapped<'_, _> = graphics::map(&cx, &stream, (&mut sums, &mut picture))?;
/// let (mut sums, picture) = mapped.views();
/// let texels = picture.array::<u8>(&cx, 0, 0)?.all().to_vec(&cx)?;
/// cx.fill(&mut sums.as_mut_slice::<u32>(&cx)?, texels.iter().map(|&texel| u32::from(texel)).sum())?;
/// mapped.unmap(&cx)?;
/// # assert_eq!(gl.read_buffer(buffer).ok_or("gone")?[..4], 10u32.to_ne_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: `cuGraphicsMapResources`, CUDA 3.0+; before it `cuGraphicsUnmapResources`, CUDA 3.0+,
/// for resources that are still mapped; after it on a non-blocking stream `cuStreamSynchronize`,
/// CUDA 2.0+.
#[doc(alias("cuGraphicsMapResources", "cuGraphicsUnmapResources"))]
pub fn map<'r, R: Resources>(
    cx: &Current<'_, '_>,
    stream: &'r Stream<'_>,
    mut resources: R,
) -> Result<Mapped<'r, R>, Error> {
    let call = FnId::cuGraphicsMapResources;
    let context = cx.of(stream.context(), call)?;
    let (mut raws, mut settled, stream_raw, apart) = (Vec::new(), Ok(()), stream.as_raw(), stream.is_apart());
    resources.each(&mut |Each(resource)| {
        raws.push(resource.raw());
        settled = settled.and_then(|()| match *resource.context() == *context {
            true => resource.settle(context),
            false => Err(Error::wrong_context(call)),
        });
    });
    settled?;
    let count = count_of(&raws, call)?;
    if count > 0 {
        resources.each(&mut |Each(resource)| resource.set_mapped(true));
        // SAFETY: the resources are of the context, which is current and is the stream's.
        unsafe { context_call!(context, cuGraphicsMapResources(count, raws.as_mut_ptr(), stream_raw)) }?;
    }
    let mapped = Mapped {
        resources,
        raws,
        stream: stream_raw,
        apart,
        context: stream.near(),
        _this_thread: PhantomData,
    };
    if apart && count > 0 {
        // SAFETY: the stream is live, and its context current.
        unsafe { context_call!(context, cuStreamSynchronize(stream_raw)) }?;
    }
    Ok(mapped)
}

fn count_of(raws: &[CUgraphicsResource], call: FnId) -> Result<u32, Error> {
    u32::try_from(raws.len()).map_err(|_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call))
}

/// Keeps resources mapped until it is dropped. It borrows them and the stream.
///
/// Drop unmaps them on the stream, swallows errors and does nothing in a forked child;
/// [`unmap`](Mapped::unmap) returns errors. If the guard is forgotten, they stay mapped until they
/// are mapped again or unregistered.
///
/// ```
/// # cuprum::example!(software driver, context, cx);
/// use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer};
///
/// # let gl = cuprum_emulator::opengl::StandIn::make_current();
/// # let name = gl.buffer(&[1, 0, 0, 0]);
/// // SAFETY: OpenGL neither deletes the buffer nor uses it while it is mapped, and stays current on this thread.
/// let mut buffer = unsafe { RegisteredBuffer::new(&cx, name, RegisterFlags::empty()) }?;
/// let stream = cuprum::Stream::default_in(&cx);
/// let mut mapped = graphics::map(&cx, &stream, &mut buffer)?;
/// assert_eq!(mapped.views().as_slice::<u32>(&cx)?.to_vec(&cx)?, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mapped<'r, R: Resources> {
    resources: R,
    /// Empty once they are unmapped.
    raws: Vec<CUgraphicsResource>,
    stream: CUstream,
    /// True if the stream is not ordered with the default stream, on which slices work.
    apart: bool,
    context: Near<'r, ContextRef>,
    /// OpenGL contexts belong to a thread.
    _this_thread: PhantomData<*mut ()>,
}

impl<R: Resources> Mapped<'_, R> {
    /// Borrows their memory: a [`MappedBuffer`] or [`MappedImage`], or a tuple or an array of
    /// these, as they were mapped.
    #[inline]
    pub fn views(&mut self) -> R::Views<'_> {
        self.resources.views()
    }

    /// Unmaps them on the stream, and returns the error that `Drop` would swallow. Earlier work on
    /// the stream and on the default stream completes before later OpenGL commands. The host does
    /// not wait, except for the default stream if the stream is non-blocking.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_GRAPHICS_CONTEXT` if no OpenGL context with the resources is current;
    /// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` while the stream is captured;
    /// [`Error::WRONG_CONTEXT`], after which they are unmapped as in `Drop`. After other errors
    /// they may stay mapped until they are mapped again or unregistered.
    ///
    /// Driver: `cuGraphicsUnmapResources`, CUDA 3.0+; before it on a non-blocking stream
    /// `cuStreamSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuGraphicsUnmapResources")]
    #[inline]
    pub fn unmap(mut self, cx: &Current<'_, '_>) -> Result<(), Error> {
        let context = cx.of(&self.context, FnId::cuGraphicsUnmapResources)?;
        let unmapped = self.give_back(context);
        self.raws.clear();
        unmapped
    }

    /// Unmaps them in their context, which is current, also during captures of other threads.
    fn give_back(&mut self, context: &ContextRef) -> Result<(), Error> {
        context.check_kept(FnId::cuGraphicsUnmapResources)?;
        let count = count_of(&self.raws, FnId::cuGraphicsUnmapResources)?;
        if count > 0 {
            captures::beside(context.library(), |beside| self.unmap_beside(context, count, beside))?;
            self.resources.each(&mut |Each(resource)| resource.set_mapped(false));
        }
        Ok(())
    }

    fn unmap_beside(&mut self, context: &ContextRef, count: u32, beside: &Beside) -> Result<(), Error> {
        let (mut stream, legacy) = (self.stream, captures::is_legacy(self.stream));
        if beside.is_exempted() && (legacy || self.apart) {
            // The legacy default stream can be neither waited for nor used.
            beside.wait_for(context)?;
            stream = if legacy { beside.default_stream() } else { stream };
        } else if self.apart {
            copy::wait_for_default_stream(context)?;
        }
        let raws = self.raws.as_mut_ptr();
        // SAFETY: the resources were mapped when this was made, and have been borrowed since; they
        // and the stream are of this context.
        unsafe { context_call!(context, cuGraphicsUnmapResources(count, raws, stream)) }
    }
}

impl<R: Resources> Drop for Mapped<'_, R> {
    fn drop(&mut self) {
        if self.raws.is_empty() {
            return;
        }
        let context = self.context;
        let unmapped = if context.library().forked() {
            Err(forked(FnId::cuGraphicsUnmapResources))
        } else {
            activated(&context, || self.give_back(&context))
        };
        match unmapped {
            Err(error) if !error.is_deinitialized() => context.swallow(error),
            _ => {}
        }
    }
}

debug!([R: Resources] Mapped<'_, R>: |this| "{:?}", this.raws);
