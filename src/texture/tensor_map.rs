//! Tensor maps, by which kernels copy tiles of tensors.

use std::alloc::Layout;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;

use cuprum_sys::{
    CUdeviceptr, CUtensorMap, CUtensorMapAllocClass, CUtensorMapDataType, CUtensorMapIm2ColWideMode,
    CUtensorMapInterleave, FnId,
};

use super::tensor::{Lists, MOST, TensorElement, TensorLayout, room};
use super::tensor_error::TensorError;
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::launch::{Argument, Parameter};
use crate::memory::{Slice, SliceMut};
use crate::raw::debug::debug;
use crate::stream::Lent;

/// Memory of a tensor: a [`Slice`], a [`SliceMut`], or either of them lent to a scope. Kernels may
/// write through a map only if its memory was borrowed mutably.
pub trait TensorMemory<'a, T> {
    /// Returns the address of the first element, and the number of elements.
    fn place(&self) -> (CUdeviceptr, usize);

    /// Returns the number of bytes, for elements of this size.
    fn bytes(&self, element_bytes: usize) -> u64 {
        (self.place().1 * element_bytes) as u64
    }

    fn context(&self) -> Option<&ContextRef>;
}

macro_rules! memory {
    ($($memory:ty, $element:ident, $this:ident => $context:expr;)*) => { $(
        impl<'a, $element: TensorElement> TensorMemory<'a, $element> for $memory {
            fn place(&self) -> (CUdeviceptr, usize) {
                (self.as_raw(), self.len())
            }

            fn context(&self) -> Option<&ContextRef> {
                let $this = self;
                $context
            }
        }
    )* };
}

memory! {
    Slice<'a, T>, T, this => Some(Slice::context(this));
    SliceMut<'a, T>, T, this => Some(SliceMut::context(this));
    Lent<'a, Slice<'_, T>>, T, _this => None;
    &Lent<'a, Slice<'_, T>>, T, _this => None;
    &Lent<'a, SliceMut<'_, T>>, T, _this => None;
}

/// A description by which kernels copy tiles of a tensor to shared memory and back. It is passed by
/// value, as a [`TensorMapObject`].
///
/// It borrows the memory of the tensor, and is otherwise plain data. As for other memory, the code
/// that [launches](crate::Kernel::launch) a kernel is responsible for its accesses: the kernel must
/// not outlive the memory, and may write only through maps of mutably borrowed memory. Requires
/// compute capability 9.0.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let device = cuprum::Driver::init(library)?.device(0)?;
/// # if device.compute_capability()?.major < 9 { return Ok(()); }
/// # let context = cuprum::context::PrimaryContext::retain(device)?;
/// # let mut stack = cuprum::context::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::Buffer;
/// use cuprum::sys::CUtensorMapSwizzle;
/// use cuprum::texture::{TensorLayout, TensorError, TensorMap};
///
/// // 32 rows of 64 numbers. Kernels copy tiles of 8 rows of 32 numbers.
/// let matrix = Buffer::<f32>::zeroed(&cx, 64 * 32)?;
/// let swizzle = CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B;
/// let tensor = TensorLayout { swizzle, ..TensorLayout::new(&[64, 32]) };
/// let map = TensorMap::tiled(&cx, matrix.as_slice(), &tensor, &[32, 8])?;
///
/// let refused = TensorMap::tiled(&cx, matrix.slice(1..).ok_or("outside")?, &tensor, &[32, 8]);
/// assert!(matches!(refused, Err(TensorError::Outside { .. })));
/// # let _ = map;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TensorMap<'a> {
    raw: CUtensorMap,
    /// Size of the tensor in bytes; 0 if it was not checked.
    needed: u64,
    bytes_of_element: usize,
    _memory: PhantomData<&'a [u8]>,
}

/// A tensor that is within its memory.
struct Placed {
    lists: Lists,
    element: CUtensorMapDataType,
    address: *mut c_void,
    strides: [u64; MOST - 1],
    needed: u64,
}

/// Fails if the memory has fewer bytes.
fn check_room(needed: u64, bytes: u64) -> Result<(), TensorError> {
    if needed <= bytes { Ok(()) } else { Err(TensorError::Outside { needed, bytes }) }
}

/// Checks that memory belongs to the current context, and returns its address.
fn address_of<'a, T: TensorElement>(
    cx: &Current<'_, '_>,
    memory: &impl TensorMemory<'a, T>,
    call: FnId,
) -> Result<*mut c_void, TensorError> {
    memory.context().map_or(Ok(()), |home| cx.of(home, call).map(drop))?;
    Ok(ptr::without_provenance_mut(memory.place().0 as usize))
}

impl TensorLayout<'_> {
    fn place<'a, T: TensorElement>(
        &self,
        lists: Lists,
        cx: &Current<'_, '_>,
        memory: &impl TensorMemory<'a, T>,
        call: FnId,
    ) -> Result<Placed, TensorError> {
        let (element, bits) = self.element_of::<T>()?;
        let (strides, needed) = lists.extent(bits)?;
        let address = address_of(cx, memory, call)?;
        let is_plain = self.interleave == CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE;
        let needed = if is_plain { needed } else { 0 };
        check_room(needed, memory.bytes(size_of::<T>()))?;
        Ok(Placed { lists, element, address, strides, needed })
    }
}

/// Describes a tensor by a driver call: the end of a method. The functions differ in the arguments
/// between strides and steps, and in one argument after the interleaving.
macro_rules! encode {
    (
        $context:expr, $tensor:ident, $placed:ident, $element:ty,
        $call:ident($($tile:expr),*; $($mode:expr)?)
    ) => {{
        let mut raw = CUtensorMap::zeroed();
        let (map, rank, kind, address) = (&raw mut raw, $placed.lists.rank as u32, $placed.element, $placed.address);
        let (sizes, strides) = ($placed.lists.sizes.as_ptr(), $placed.strides.as_ptr());
        let (steps, interleave) = ($placed.lists.steps.as_ptr(), $tensor.interleave);
        let (swizzle, promotion, fill) = ($tensor.swizzle, $tensor.l2_promotion, $tensor.fill);
        // SAFETY: each list has one value per dimension, and lists of corners have one per
        // dimension with a corner. Lists and map outlive the call, which does not access memory at
        // the address.
        unsafe {
            context_call!(
                $context,
                $call(
                    map, kind, rank, address, sizes, strides, $($tile,)* steps, interleave, $($mode,)? swizzle,
                    promotion, fill
                )
            )
        }?;
        Ok(Self::of::<$element>(raw, &$placed))
    }};
}

impl<'a> TensorMap<'a> {
    fn of<T>(raw: CUtensorMap, placed: &Placed) -> Self {
        Self { raw, needed: placed.needed, bytes_of_element: size_of::<T>(), _memory: PhantomData }
    }

    /// Describes a tensor and the size of the tiles that kernels copy, in elements along each
    /// dimension. Does not wait or access the memory.
    ///
    /// # Errors
    /// [`TensorError::Rank`], [`TensorError::Element`], [`TensorError::Outside`];
    /// [`Error::WRONG_CONTEXT`]; `CUDA_ERROR_INVALID_VALUE` for sizes, strides, tiles or a swizzle
    /// that the device does not support, such as rows of tiles that are no multiple of 16 bytes or
    /// longer than the swizzle; `CUDA_ERROR_NOT_SUPPORTED` on devices without tensor maps;
    /// [`Error::UNRESOLVED`] on drivers before CUDA 12.0.
    ///
    /// Driver: `cuTensorMapEncodeTiled`, CUDA 12.0+.
    #[doc(alias = "cuTensorMapEncodeTiled")]
    pub fn tiled<T: TensorElement>(
        cx: &Current<'_, '_>,
        memory: impl TensorMemory<'a, T>,
        tensor: &TensorLayout<'_>,
        tile: &[u32],
    ) -> Result<Self, TensorError> {
        let context = cx.get()?;
        let lists = tensor.lists()?;
        let tile: [u32; MOST] = room(tile, lists.rank, 1)?;
        let placed = tensor.place::<T>(lists, cx, &memory, FnId::cuTensorMapEncodeTiled)?;
        let tile = tile.as_ptr();
        encode!(&context, tensor, placed, T, cuTensorMapEncodeTiled(tile;))
    }

    /// Describes a tensor of images, from which kernels copy columns of pixels. `lower` and `upper`
    /// are the offsets of the corners of the box of pixels from the corners of the image. They have
    /// no value for the first dimension, the channels, and the last dimension, the images.
    ///
    /// # Errors
    /// Same as [`tiled`](TensorMap::tiled).
    ///
    /// Driver: `cuTensorMapEncodeIm2col`, CUDA 12.0+.
    #[doc(alias = "cuTensorMapEncodeIm2col")]
    pub fn im2col<T: TensorElement>(
        cx: &Current<'_, '_>,
        memory: impl TensorMemory<'a, T>,
        tensor: &TensorLayout<'_>,
        [lower, upper]: [&[i32]; 2],
        channels_per_pixel: u32,
        pixels_per_column: u32,
    ) -> Result<Self, TensorError> {
        let context = cx.get()?;
        let lists = tensor.lists()?;
        let corners = lists.rank.saturating_sub(2);
        let lower: [i32; MOST] = room(lower, corners, 0)?;
        let upper: [i32; MOST] = room(upper, corners, 0)?;
        let placed = tensor.place::<T>(lists, cx, &memory, FnId::cuTensorMapEncodeIm2col)?;
        let (lower, upper) = (lower.as_ptr(), upper.as_ptr());
        let (channels, pixels) = (channels_per_pixel, pixels_per_column);
        encode!(&context, tensor, placed, T, cuTensorMapEncodeIm2col(lower, upper, channels, pixels;))
    }

    /// Same as [`im2col`](TensorMap::im2col), but the columns run along the width only, and only
    /// its corners are given. Requires compute capability 10.0.
    ///
    /// # Errors
    /// Same as [`tiled`](TensorMap::tiled); an error of the driver on other devices;
    /// [`Error::UNRESOLVED`] on drivers before CUDA 12.8.
    ///
    /// Driver: `cuTensorMapEncodeIm2colWide`, CUDA 12.8+.
    #[doc(alias = "cuTensorMapEncodeIm2colWide")]
    pub fn im2col_wide<T: TensorElement>(
        cx: &Current<'_, '_>,
        memory: impl TensorMemory<'a, T>,
        tensor: &TensorLayout<'_>,
        [lower, upper]: [i32; 2],
        channels_per_pixel: u32,
        pixels_per_column: u32,
        mode: CUtensorMapIm2ColWideMode,
    ) -> Result<Self, TensorError> {
        let context = cx.get()?;
        let placed = tensor.place::<T>(tensor.lists()?, cx, &memory, FnId::cuTensorMapEncodeIm2colWide)?;
        let (channels, pixels) = (channels_per_pixel, pixels_per_column);
        encode!(&context, tensor, placed, T, cuTensorMapEncodeIm2colWide(lower, upper, channels, pixels; mode))
    }

    /// Describes the same tensor in other memory. After an error the map is unchanged.
    ///
    /// # Errors
    /// [`TensorError::Outside`]; [`TensorError::Element`] for elements of another size;
    /// `CUDA_ERROR_INVALID_VALUE` for memory that is not aligned to 16 or 32 bytes; the errors of
    /// [`tiled`](TensorMap::tiled).
    ///
    /// Driver: `cuTensorMapReplaceAddress`, CUDA 12.0+.
    #[doc(alias = "cuTensorMapReplaceAddress")]
    pub fn replace_memory<T: TensorElement>(
        &mut self,
        cx: &Current<'_, '_>,
        memory: impl TensorMemory<'a, T>,
    ) -> Result<(), TensorError> {
        let context = cx.get()?;
        if size_of::<T>() != self.bytes_of_element {
            return Err(TensorError::Element { element: T::ELEMENT, bytes: self.bytes_of_element });
        }
        let address = address_of(cx, &memory, FnId::cuTensorMapReplaceAddress)?;
        check_room(self.needed, memory.bytes(size_of::<T>()))?;
        let mut raw = self.raw;
        // SAFETY: the driver encoded the map, which outlives the call; the call does not access
        // memory at the address.
        unsafe { context_call!(&context, cuTensorMapReplaceAddress(&raw mut raw, address)) }?;
        self.raw = raw;
        Ok(())
    }

    /// Sets the distance by which addresses of copies may exceed the tensor. Returns the class that
    /// is in effect.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] on drivers before CUDA 13.5; [errors of any call](crate#errors).
    ///
    /// # Safety
    /// 1. Unless the class is `SMALL`, the allocation of the tensor is contiguous, and accessible
    ///    for the number of bytes in the device's attribute for large tensors, whenever a kernel
    ///    uses the map.
    ///
    /// Driver: `cuTensorMapSetAllocationClass`, CUDA 13.5+.
    #[doc(alias = "cuTensorMapSetAllocationClass")]
    #[inline]
    pub unsafe fn set_allocation_class(
        &mut self,
        cx: &Current<'_, '_>,
        class: CUtensorMapAllocClass,
    ) -> Result<CUtensorMapAllocClass, Error> {
        let context = cx.get()?;
        let mut effective = CUtensorMapAllocClass::CU_TENSOR_MAP_ALLOC_CLASS_SMALL;
        let (map, told) = (&raw mut self.raw, &raw mut effective);
        // SAFETY: the driver encoded the map; both places outlive the call.
        unsafe { context_call!(&context, cuTensorMapSetAllocationClass(map, class, told)) }?;
        Ok(effective)
    }

    /// Returns the map for kernels.
    pub const fn as_raw(&self) -> &CUtensorMap {
        &self.raw
    }
}

debug! {
    TensorMap<'_>: |this, f|
    f.debug_struct("TensorMap").field("needed", &this.needed).finish_non_exhaustive()
}

/// A parameter that is a tensor map, in CUDA C `const __grid_constant__ CUtensorMap`.
///
/// It is aligned to `ALIGN` bytes: 64 in kernels that were compiled with headers of CUDA 12, and
/// 128 with headers of CUDA 13.
///
/// ```
/// use cuprum::texture::TensorMapObject;
/// use cuprum::launch::Parameter;
/// use cuprum::InOut;
///
/// // A kernel of CUDA 13's headers: `(const __grid_constant__ CUtensorMap map, float *out)`.
/// type Copies = (TensorMapObject<128>, InOut<f32>);
/// assert_eq!(<TensorMapObject<128> as Parameter>::LAYOUT.align(), 128);
/// assert_eq!(<Copies as cuprum::launch::Signature>::LAYOUT.len(), 2);
/// ```
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a type of parameters, without values")]
pub struct TensorMapObject<const ALIGN: usize = 64>;

macro_rules! parameters {
    ($($align:literal)*) => { $(
        impl Parameter for TensorMapObject<$align> {
            const LAYOUT: Layout = match Layout::from_size_align(size_of::<CUtensorMap>(), $align) {
                Ok(layout) => layout,
                Err(_) => Layout::new::<CUtensorMap>(),
            };
        }

        // SAFETY: the map itself, which kernels take.
        unsafe impl Argument<TensorMapObject<$align>> for &TensorMap<'_> {
            type Raw = CUtensorMap;

            fn into_raw(self) -> CUtensorMap {
                self.raw
            }
        }
    )* };
}

parameters! { 64 128 }
