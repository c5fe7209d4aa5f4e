//! Copies and fills on the default stream.

use super::super::data::sealed::Fill as _;
use super::super::place::kind::{Accepts, Fillable};
use super::super::{Fill, MemoryError, Pattern, Source, Target};
use crate::context::Current;
use crate::raw::seal::Key;

impl Current<'_, '_> {
    /// Copies all elements of `src` to `dst`. On return, host memory may be reused or has the
    /// elements. From device to device the host does not wait.
    ///
    /// Each side is memory of the host or the device, owned or borrowed. Their types select the
    /// driver function at compile time:
    ///
    /// | kind of place | types |
    /// |---|---|
    /// | host | `[T]`, `[T; N]`, `Vec`, [`PinnedBuffer`](crate::PinnedBuffer), [`Registered`](crate::memory::Registered) |
    /// | device | [`Buffer`](crate::Buffer) and the other owners of linear memory, [`Slice`](crate::memory::Slice), [`SliceMut`](crate::memory::SliceMut) |
    /// | rows of the device | [`PitchedBuffer`](crate::memory::PitchedBuffer), [`Pitched`](crate::memory::Pitched), [`PitchedMut`](crate::memory::PitchedMut) |
    /// | rows of the host | [`HostBlock`](crate::memory::HostBlock), [`HostBlockMut`](crate::memory::HostBlockMut) |
    /// | array | [`Array`](crate::memory::Array), [`ArrayView`](crate::memory::ArrayView), [`ArrayPart`](crate::memory::ArrayPart) |
    /// | variable | [`Global`](crate::module::Global) |
    /// | in the order of a stream | [`StreamBuffer`](crate::pool::StreamBuffer) |
    ///
    /// | from \ to | host | device | rows of the device | rows of the host | array | variable | in order |
    /// |---|---|---|---|---|---|---|---|
    /// | **host** | | `HtoD` | `2D`, `3D` | | `2D`, `3D` | `HtoD` | `HtoDAsync`, waits |
    /// | **device** | `DtoH` | `DtoD` | | | | `DtoD` | |
    /// | **rows of the device** | `2D`, `3D` | | `2D`, `3D` | `2D`, `3D` | `2D`, `3D` | | |
    /// | **rows of the host** | | | `2D`, `3D` | | `2D`, `3D` | | |
    /// | **array** | `2D`, `3D` | | `2D`, `3D` | `2D`, `3D` | `2D`, `3D` | | |
    /// | **variable** | `DtoH` | `DtoD` | | | | | |
    /// | **in order** | waits, `DtoH` | | | | | | `DtoDAsync` |
    /// | [`Peer`](crate::memory::Peer) of a device place | | `Peer` | `3DPeer` | | `3DPeer` | | |
    ///
    /// A slice on the host has no gaps between rows; `3D` is for several slices, layers or faces.
    /// [`Pitched::over`](crate::memory::Pitched::over) interprets linear memory as rows.
    ///
    /// The legacy default stream orders copies: after all earlier work of ordinary streams, and
    /// before all later work on them. Non-blocking streams are not part of that order, and no other
    /// stream is if the library was opened with per-thread default streams; in both cases a
    /// [scope](Current::scope) waits first. Memory in the order of a stream is copied on that
    /// stream, which must be the same for both sides; if one side is on the host, the host waits
    /// for it.
    ///
    /// The host waits for a copy from [another context](crate::memory::Peer).
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::Buffer;
    ///
    /// let x = Buffer::from_slice(&cx, &[1u32, 2, 3])?;
    /// let mut y = Buffer::<u32>::zeroed(&cx, 3)?;
    /// cx.copy(&mut y, &x)?;
    /// cx.copy(&mut y.slice_mut(..1).ok_or("outside")?, &[7])?;
    /// let mut host = [0; 3];
    /// cx.copy(&mut host, &y)?;
    /// assert_eq!(host, [7, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MemoryError::Length`] if the lengths differ, [`MemoryError::Extent`] if the extents
    /// differ; [`MemoryError::Overlap`] if both are parts of one array and share elements;
    /// [`MemoryError::NotInOrder`] for memory in the order of two streams;
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT) unless each device side is of
    /// the current context, or in a `Peer` of the same driver.
    ///
    /// Driver: `cuMemcpyHtoD_v2`, `cuMemcpyDtoH_v2`, `cuMemcpyDtoD_v2`, `cuMemcpy2D_v2`,
    /// `cuMemcpy3D_v2`, or `cuMemcpy2DUnaligned_v2` without a host side if the program chose the
    /// pitch, CUDA 3.2+; in the order of a stream `cuMemcpyHtoDAsync_v2` and
    /// `cuMemcpyDtoDAsync_v2`, CUDA 3.2+, and `cuStreamSynchronize`, CUDA 2.0+; of another context
    /// `cuMemcpyPeer` or `cuMemcpy3DPeer`, CUDA 4.0+, and `cuStreamSynchronize`, or if that fails
    /// `cuCtxSynchronize`, CUDA 2.0+.
    #[doc(alias("cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyDtoD_v2", "cuMemcpy2D_v2"))]
    #[doc(alias("cuMemcpy2DUnaligned_v2", "cuMemcpy3D_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoDAsync_v2"))]
    #[doc(alias("cuMemcpyPeer", "cuMemcpy3DPeer"))]
    #[inline]
    pub fn copy<D, S>(&self, dst: &mut D, src: &S) -> Result<(), MemoryError>
    where
        D: Target + ?Sized,
        S: Source<D::Element> + ?Sized,
        D::Kind: Accepts<S::Kind>,
    {
        let (to, from) = (dst.as_target(Key::new()), src.as_source(Key::new()));
        D::Kind::copy::<D::Element>(self, to, from, Key::new())
    }

    /// Sets every element of `dst`, in device memory, to `value`, without the padding of rows. The
    /// host does not wait. Fills have the same order as [copies](Current::copy).
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::Buffer;
    ///
    /// let mut y = Buffer::<f32>::alloc(&cx, 3)?;
    /// cx.fill(&mut y, 0.5)?;
    /// cx.fill_bytes(&mut y.slice_mut(1..).ok_or("outside")?, 0)?;
    /// assert_eq!(y.to_vec(&cx)?, [0.5, 0.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT).
    ///
    /// Driver: `cuMemsetD8_v2`, `cuMemsetD16_v2` or `cuMemsetD32_v2`, CUDA 3.2+; for rows
    /// `cuMemsetD2D8_v2`, `cuMemsetD2D16_v2` or `cuMemsetD2D32_v2`, CUDA 3.2+, once, or for each
    /// slice if there are rows between the slices; in the order of a stream `cuMemsetD8Async`,
    /// `cuMemsetD16Async` or `cuMemsetD32Async`, CUDA 3.2+.
    #[doc(alias("cuMemsetD8_v2", "cuMemsetD16_v2", "cuMemsetD32_v2", "cuMemsetD2D8_v2", "cuMemsetD2D16_v2"))]
    #[doc(alias("cuMemsetD2D32_v2", "cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async"))]
    #[inline]
    pub fn fill<D>(&self, dst: &mut D, value: D::Element) -> Result<(), MemoryError>
    where
        D: Target + ?Sized,
        D::Element: Fill,
        D::Kind: Fillable,
    {
        let to = dst.as_target(Key::new());
        D::Kind::fill::<D::Element>(self, to, value.pattern(), 1, Key::new())
    }

    /// Sets every byte of the elements of `dst`, in device memory, to `value`, without the padding
    /// of rows. The host does not wait.
    ///
    /// Example: see [`fill`](Current::fill).
    ///
    /// # Errors
    /// Same as [`fill`](Current::fill).
    ///
    /// Driver: `cuMemsetD8_v2`, for rows `cuMemsetD2D8_v2`, and in the order of a stream
    /// `cuMemsetD8Async`, CUDA 3.2+.
    #[doc(alias("cuMemsetD8_v2", "cuMemsetD2D8_v2", "cuMemsetD8Async"))]
    #[inline]
    pub fn fill_bytes<D>(&self, dst: &mut D, value: u8) -> Result<(), MemoryError>
    where
        D: Target + ?Sized,
        D::Kind: Fillable,
    {
        let (to, pattern) = (dst.as_target(Key::new()), Pattern::Byte(value));
        D::Kind::fill::<D::Element>(self, to, pattern, size_of::<D::Element>(), Key::new())
    }
}
