//! Views of mapped resources.

use std::marker::PhantomData;

use cuprum_sys::{CUarray, CUdeviceptr, CUgraphicsResource, CUmipmappedArray, CUresult, FnId};

use super::registered::Registered;
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::memory::{ArrayFlags, ArrayView, DeviceData, MemoryError, MipmappedView, Slice, SliceMut, Texel};
use crate::raw::debug::debug;
use crate::raw::keep::Near;

/// A mapped buffer, borrowed from its guard.
///
/// ```
/// # cuprum::example!(software driver, context, cx);
/// use cuprum::graphics::{self, MappedBuffer, RegisterFlags, RegisteredBuffer};
/// use cuprum::{Current, MemoryError, Stream};
///
/// fn clear(cx: &Current<'_, '_>, mut vertices: MappedBuffer<'_>) -> Result<usize, MemoryError> {
///     let mut numbers = vertices.as_mut_slice::<f32>(cx)?;
///     cx.fill_bytes(&mut numbers, 0)?;
///     Ok(numbers.len())
/// }
///
/// # let gl = cuprum_emulator::opengl::StandIn::make_current();
/// # let name = gl.buffer(&[7; 18]);
/// // SAFETY: OpenGL neither deletes the buffer nor uses it while it is mapped, and stays current on this thread.
/// let mut vertices = unsafe { RegisteredBuffer::new(&cx, name, RegisterFlags::empty()) }?;
/// let stream = Stream::default_in(&cx);
/// assert_eq!(clear(&cx, graphics::map(&cx, &stream, &mut vertices)?.views())?, 4); // of 18 bytes
/// # assert_eq!(gl.read_buffer(name).ok_or("gone")?[15..], [0, 7, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MappedBuffer<'m> {
    raw: CUgraphicsResource,
    context: Near<'m, ContextRef>,
    _guard: PhantomData<&'m mut ()>,
}

impl<'m> MappedBuffer<'m> {
    pub(super) fn new(registered: &'m Registered<'_>) -> Self {
        Self { raw: registered.raw(), context: registered.near(), _guard: PhantomData }
    }

    /// Borrows its elements to read: as many as fit, without the remaining bytes.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the driver maps it at an address that is not aligned for `T`;
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuGraphicsResourceGetMappedPointer_v2`, CUDA 3.2+.
    #[doc(alias = "cuGraphicsResourceGetMappedPointer_v2")]
    pub fn as_slice<T: DeviceData>(&self, cx: &Current<'_, '_>) -> Result<Slice<'_, T>, Error> {
        let (address, len) = self.place::<T>(cx)?;
        Ok(Slice::new(address, len, self.context))
    }

    /// Borrows its elements to write: as many as fit, without the remaining bytes.
    ///
    /// # Errors
    /// Same as [`as_slice`](MappedBuffer::as_slice).
    ///
    /// Driver: `cuGraphicsResourceGetMappedPointer_v2`, CUDA 3.2+.
    #[doc(alias = "cuGraphicsResourceGetMappedPointer_v2")]
    pub fn as_mut_slice<T: DeviceData>(&mut self, cx: &Current<'_, '_>) -> Result<SliceMut<'_, T>, Error> {
        let (address, len) = self.place::<T>(cx)?;
        Ok(SliceMut::new(address, len, self.context))
    }

    fn place<T: DeviceData>(&self, cx: &Current<'_, '_>) -> Result<(CUdeviceptr, usize), Error> {
        let call = FnId::cuGraphicsResourceGetMappedPointer_v2;
        let context = cx.of(&self.context, call)?;
        let (mut address, mut bytes) = (0, 0);
        let (at, size) = (&raw mut address, &raw mut bytes);
        // SAFETY: the out-parameters outlive the call; the resource is registered, and its context
        // current.
        unsafe { context_call!(context, cuGraphicsResourceGetMappedPointer_v2(at, size, self.raw)) }?;
        if address % align_of::<T>() as CUdeviceptr != 0 {
            return Err(Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call));
        }
        Ok((address, bytes.checked_div(size_of::<T>()).unwrap_or(0)))
    }
}

debug!(MappedBuffer<'_>: |this| "{:?}", this.raw);

/// A mapped image, borrowed from its guard.
///
/// ```
/// # cuprum::example!(software driver, context, cx);
/// use cuprum::graphics::{self, MappedImage, RegisterFlags, RegisteredImage};
/// use cuprum::{Current, MemoryError, Stream};
///
/// /// The first texel of the largest level.
/// fn corner(cx: &Current<'_, '_>, picture: &MappedImage<'_>) -> Result<Option<f32>, MemoryError> {
///     let levels = picture.mipmapped::<f32>(cx)?;
///     let texels = levels.level(cx, 0)?.all().to_vec(cx)?;
///     Ok(texels.first().copied())
/// }
///
/// # let gl = cuprum_emulator::opengl::StandIn::make_current();
/// # let name = gl.texture(0x822E, 1, 1, &1.5f32.to_ne_bytes());
/// // SAFETY: OpenGL neither deletes the texture nor uses it while it is mapped, and stays current on this thread.
/// let mut picture =
///     unsafe { RegisteredImage::new(&cx, name, 0x0DE1, RegisterFlags::READ_ONLY) }?;
/// let stream = Stream::default_in(&cx);
/// assert_eq!(corner(&cx, &graphics::map(&cx, &stream, &mut picture)?.views())?, Some(1.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MappedImage<'m> {
    raw: CUgraphicsResource,
    flags: ArrayFlags,
    context: Near<'m, ContextRef>,
    _guard: PhantomData<&'m mut ()>,
}

impl<'m> MappedImage<'m> {
    pub(super) fn new(registered: &'m Registered<'_>) -> Self {
        let flags = registered.flags().of_arrays();
        Self { raw: registered.raw(), flags, context: registered.near(), _guard: PhantomData }
    }

    /// Returns an array of the image. `index` selects a layer, or the face of a cube, and is
    /// otherwise 0; `level` counts from 0, the largest.
    ///
    /// # Errors
    /// [`MemoryError::Texel`] if its elements are not `T`; `CUDA_ERROR_INVALID_VALUE` if the layer
    /// or level does not exist; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuGraphicsSubResourceGetMappedArray`, CUDA 3.0+, and `cuArray3DGetDescriptor_v2`,
    /// CUDA 3.2+.
    #[doc(alias("cuGraphicsSubResourceGetMappedArray", "cuArray3DGetDescriptor_v2"))]
    pub fn array<T: Texel>(
        &self,
        cx: &Current<'_, '_>,
        index: u32,
        level: u32,
    ) -> Result<ArrayView<'_, T>, MemoryError> {
        let context = cx.of(&self.context, FnId::cuGraphicsSubResourceGetMappedArray)?;
        let mut raw = CUarray::null();
        let out = &raw mut raw;
        // SAFETY: the out-parameter outlives the call; the resource is registered, and its context
        // current.
        unsafe { context_call!(context, cuGraphicsSubResourceGetMappedArray(out, self.raw, index, level)) }?;
        // SAFETY: the array lives until it is unmapped, which this borrow prevents, and has memory.
        unsafe { ArrayView::told(self.context, raw, self.flags) }
    }

    /// Returns all its levels and layers, for textures and surfaces. In the levels of a cube,
    /// NVIDIA's driver copies only the first face: copy each face by [`array`](Self::array).
    ///
    /// # Errors
    /// [`MemoryError::Texel`] if its elements are not `T`; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuGraphicsResourceGetMappedMipmappedArray`, CUDA 5.0+, `cuMipmappedArrayGetLevel`,
    /// CUDA 5.0+, and `cuArray3DGetDescriptor_v2`, CUDA 3.2+.
    #[doc(alias("cuGraphicsResourceGetMappedMipmappedArray"))]
    #[doc(alias("cuMipmappedArrayGetLevel", "cuArray3DGetDescriptor_v2"))]
    pub fn mipmapped<T: Texel>(&self, cx: &Current<'_, '_>) -> Result<MipmappedView<'_, T>, MemoryError> {
        let context = cx.of(&self.context, FnId::cuGraphicsResourceGetMappedMipmappedArray)?;
        let mut raw = CUmipmappedArray::null();
        let out = &raw mut raw;
        // SAFETY: the out-parameter outlives the call; the resource is registered, and its context
        // current.
        unsafe { context_call!(context, cuGraphicsResourceGetMappedMipmappedArray(out, self.raw)) }?;
        // SAFETY: the array lives until it is unmapped, which this borrow prevents, and has memory.
        unsafe { MipmappedView::told(self.context, raw, self.flags) }
    }
}

debug!(MappedImage<'_>: |this| "{:?}", this.raw);
