//! Owned rows with padding.

use std::marker::PhantomData;

use cuprum_sys::CUdeviceptr;

use super::view::{Pitched, PitchedMut};
use crate::context::{Current, context_call};
use crate::memory::buffer::Allocation;
use crate::memory::extent::Extent;
use crate::memory::place::place;
use crate::memory::side::{DeviceRows, Side};
use crate::memory::strides::Strides;
use crate::memory::{DeviceData, MemoryError, bytes_of};
use crate::raw::debug::debug;
use crate::raw::held::Held;
use crate::raw::owner::{close, context};

/// Rows of device memory in one context. The driver chooses the pitch so that each row is well
/// aligned for kernels. Freed on drop.
///
/// A kernel gets the address of the first element. Row `y` begins `y` times
/// [`pitch_bytes`](Pitched::pitch_bytes) after it. A [texture](crate::texture::Texture)
/// addresses it in two dimensions.
///
/// A buffer of zero bytes owns nothing and makes no driver calls.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::PitchedBuffer;
///
/// // An image of 5 by 3; its pitch is larger than 5 elements.
/// let mut picture = PitchedBuffer::<f32>::alloc(&cx, (5, 3))?;
/// assert!(picture.as_pitched().pitch_bytes() >= 5 * 4);
/// cx.copy(&mut picture, &[1.0; 15])?;
///
/// // The middle column becomes 2.
/// cx.fill(&mut picture.as_pitched_mut().part(2..3, .., ..).ok_or("outside")?, 2.0)?;
/// assert_eq!(picture.to_vec(&cx)?[..5], [1.0, 1.0, 2.0, 1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PitchedBuffer<'ctx, T: DeviceData> {
    memory: Held<'ctx, Allocation>,
    strides: Strides,
    _elements: PhantomData<T>,
}

/// Size of a kernel's expected accesses in bytes, as the driver requires it.
const fn access_bytes(element_bytes: usize) -> u32 {
    match element_bytes {
        0..8 => 4,
        8..16 => 8,
        _ => 16,
    }
}

impl<'ctx, T: DeviceData> PitchedBuffer<'ctx, T> {
    /// Allocates rows, and consecutive slices of rows, without initializing them.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuMemAllocPitch_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemAllocPitch_v2")]
    pub fn alloc(cx: &Current<'_, 'ctx>, extent: impl Into<Extent>) -> Result<Self, MemoryError> {
        let mut strides = Strides::dense::<T>(extent.into())?;
        let context = cx.get()?;
        let mut address = 0;
        if !strides.extent.is_empty() && strides.pitch != 0 {
            let Extent { width, height, depth } = strides.extent;
            // Does not overflow, because it is at most the size of all elements.
            let (width, rows) = (width * size_of::<T>(), height * depth);
            let (address, pitch) = (&raw mut address, &raw mut strides.pitch);
            let access = access_bytes(size_of::<T>());
            // SAFETY: both out-parameters outlive the call, and `cx` proves a current context.
            unsafe { context_call!(&context, cuMemAllocPitch_v2(address, pitch, width, rows, access)) }?;
        }
        Ok(Self { memory: Held::new(Allocation(address), context), strides, _elements: PhantomData })
    }

    /// Allocates rows and copies `host`, which has no gaps, there.
    ///
    /// # Errors
    /// Same as [`alloc`](PitchedBuffer::alloc) and [`Current::copy`].
    ///
    /// Driver: `cuMemAllocPitch_v2` and `cuMemcpy2D_v2`, or `cuMemcpy3D_v2` for several slices,
    /// CUDA 3.2+.
    #[doc(alias = "cuMemAllocPitch_v2")]
    pub fn from_slice(
        cx: &Current<'_, 'ctx>,
        host: &[T],
        extent: impl Into<Extent>,
    ) -> Result<Self, MemoryError> {
        let mut buffer = Self::alloc(cx, extent)?;
        cx.copy(&mut buffer, host)?;
        Ok(buffer)
    }

    /// Takes ownership of memory allocated elsewhere in the current context. No driver call.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`], or [`MemoryError::Outside`] if the rows would overlap. After an
    /// error the memory is not freed.
    ///
    /// # Safety
    /// 1. `cuMemAllocPitch` in the context of `cx` returned `address`, with at least this extent
    ///    and with this pitch in bytes, or `cuMemAlloc` or a similar call, with enough room. No
    ///    other code frees it. The pitch is a multiple of the alignment of `T`.
    /// 2. No other owner of this crate owns it.
    pub unsafe fn from_raw(
        cx: &Current<'_, 'ctx>,
        address: CUdeviceptr,
        extent: impl Into<Extent>,
        pitch_bytes: usize,
    ) -> Result<Self, MemoryError> {
        let extent = extent.into();
        Strides::dense::<T>(extent)?;
        let rows = extent.height.saturating_mul(extent.depth);
        let bytes = pitch_bytes.saturating_mul(rows);
        bytes_of::<u8>(bytes)?;
        if !extent.is_empty() && pitch_bytes < extent.width * size_of::<T>() {
            return Err(MemoryError::Outside { extent, pitch: pitch_bytes, rows: extent.height, len: bytes });
        }
        let strides = Strides { extent, pitch: pitch_bytes, rows: extent.height };
        Ok(Self { memory: Held::new(Allocation(address), cx.near()), strides, _elements: PhantomData })
    }

    /// Releases ownership without freeing the memory.
    #[inline]
    pub fn into_raw(self) -> CUdeviceptr {
        self.memory.into_raw().0
    }

    /// Address of the first element in device memory; 0 for a buffer that owns nothing.
    #[inline]
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.memory.raw().0
    }

    context!(|this| this.memory.context());

    fn side(&self) -> Side<'_> {
        Side::device::<T>(self.as_raw(), true, self.strides, self.context())
    }

    /// Borrows all elements to read.
    #[inline]
    pub fn as_pitched(&self) -> Pitched<'_, T> {
        Pitched::new(self.as_raw(), self.strides, true, self.memory.near())
    }

    /// Borrows all elements to write.
    #[inline]
    pub fn as_pitched_mut(&mut self) -> PitchedMut<'_, T> {
        PitchedMut::new(self.as_raw(), self.strides, true, self.memory.near())
    }

    /// Copies all rows to a new vector, without gaps. Blocks until the copy is complete.
    ///
    /// # Errors
    /// Same as [`Pitched::to_vec`].
    ///
    /// Driver: `cuMemcpy2D_v2`, or `cuMemcpy3D_v2` for several slices, CUDA 3.2+.
    #[doc(alias = "cuMemcpy2D_v2")]
    #[inline]
    pub fn to_vec(&self, cx: &Current<'_, '_>) -> Result<Vec<T>, MemoryError> {
        self.as_pitched().to_vec(cx)
    }

    close!("Frees the memory", "cuMemFree_v2", "3.2", |this| this.memory.close());
}

debug!([T: DeviceData] PitchedBuffer<'_, T>: |this| "{:#x}, {}", this.as_raw(), this.strides.extent);

place! {
    [T: DeviceData] PitchedBuffer<'_, T>: DeviceRows, of T,
    read |this| this.side(), write |this| this.side()
}
