//! Elements of arrays.

use cuprum_sys::{CUarray_format, CUresourceViewFormat};

use crate::memory::DeviceData;
use crate::memory::vector::*;

/// An element of an array, a texel: one, two or four channels of one format.
///
/// Implemented for `u8`, `i8`, `u16`, `i16`, `u32`, `i32`, `f32` and [`Half`], arrays and
/// [vectors](crate::memory::vector) of two and four of them and, with the feature `half`, for
/// `half::f16`.
///
/// # Safety
/// The type consists of exactly `CHANNELS` (1, 2 or 4) channels of the format `FORMAT`.
///
/// # Example
/// ```
/// use cuprum::memory::Texel;
///
/// assert_eq!(<[u8; 4] as Texel>::CHANNELS, 4);
/// assert_eq!(<cuprum::memory::vector::float2 as Texel>::FORMAT, <f32 as Texel>::FORMAT);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of an array",
    label = "not one, two or four channels of one format",
    note = "elements are `u8`, `i8`, `u16`, `i16`, `u32`, `i32`, `f32`, `Half`, and arrays and vectors of two and four of them"
)]
pub unsafe trait Texel: DeviceData {
    /// Format of a channel.
    const FORMAT: CUarray_format;
    /// Number of channels.
    const CHANNELS: u32;
    /// Format of a [view](crate::texture::ResourceView).
    const VIEW: CUresourceViewFormat;
}

/// A half-precision number (IEEE 754 binary16), by its bits, for arrays of `CU_AD_FORMAT_HALF`.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape, Half};
///
/// // 1.0 and -2.0 by their bits.
/// let line = [Half(0x3c00), Half(0xc000)];
/// let array = Array::from_slice(&cx, ArrayShape::OneD { width: 2 }, ArrayFlags::empty(), &line)?;
/// assert_eq!(array.to_vec(&cx)?, line);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
#[expect(clippy::exhaustive_structs, reason = "its bits")]
pub struct Half(pub u16);

// SAFETY: a number of two bytes.
#[diagnostic::do_not_recommend]
unsafe impl DeviceData for Half {}

/// Implements the trait for a type with one channel, and its arrays of two and four.
macro_rules! texels {
    ($($type:ty: $format:ident, $view1:ident $view2:ident $view4:ident;)*) => { $(
        texels!(@ $type, 1, $format, $view1);
        texels!(@ [$type; 2], 2, $format, $view2);
        texels!(@ [$type; 4], 4, $format, $view4);
    )* };
    (@ $type:ty, $channels:literal, $format:ident, $view:ident) => {
        // SAFETY: `CHANNELS` numbers of that format in sequence.
        #[diagnostic::do_not_recommend]
        unsafe impl Texel for $type {
            const FORMAT: CUarray_format = CUarray_format::$format;
            const CHANNELS: u32 = $channels;
            const VIEW: CUresourceViewFormat = CUresourceViewFormat::$view;
        }
    };
}

texels! {
    u8: CU_AD_FORMAT_UNSIGNED_INT8,
        CU_RES_VIEW_FORMAT_UINT_1X8 CU_RES_VIEW_FORMAT_UINT_2X8 CU_RES_VIEW_FORMAT_UINT_4X8;
    i8: CU_AD_FORMAT_SIGNED_INT8,
        CU_RES_VIEW_FORMAT_SINT_1X8 CU_RES_VIEW_FORMAT_SINT_2X8 CU_RES_VIEW_FORMAT_SINT_4X8;
    u16: CU_AD_FORMAT_UNSIGNED_INT16,
        CU_RES_VIEW_FORMAT_UINT_1X16 CU_RES_VIEW_FORMAT_UINT_2X16 CU_RES_VIEW_FORMAT_UINT_4X16;
    i16: CU_AD_FORMAT_SIGNED_INT16,
        CU_RES_VIEW_FORMAT_SINT_1X16 CU_RES_VIEW_FORMAT_SINT_2X16 CU_RES_VIEW_FORMAT_SINT_4X16;
    u32: CU_AD_FORMAT_UNSIGNED_INT32,
        CU_RES_VIEW_FORMAT_UINT_1X32 CU_RES_VIEW_FORMAT_UINT_2X32 CU_RES_VIEW_FORMAT_UINT_4X32;
    i32: CU_AD_FORMAT_SIGNED_INT32,
        CU_RES_VIEW_FORMAT_SINT_1X32 CU_RES_VIEW_FORMAT_SINT_2X32 CU_RES_VIEW_FORMAT_SINT_4X32;
    Half: CU_AD_FORMAT_HALF,
        CU_RES_VIEW_FORMAT_FLOAT_1X16 CU_RES_VIEW_FORMAT_FLOAT_2X16 CU_RES_VIEW_FORMAT_FLOAT_4X16;
    f32: CU_AD_FORMAT_FLOAT,
        CU_RES_VIEW_FORMAT_FLOAT_1X32 CU_RES_VIEW_FORMAT_FLOAT_2X32 CU_RES_VIEW_FORMAT_FLOAT_4X32;
}

/// Implements the trait for a vector, like the array of its components.
macro_rules! vectors {
    ($($vector:ident as $array:ty;)*) => { $(
        const _: () = assert!(size_of::<$vector>() == size_of::<$array>());

        // SAFETY: the same components in sequence without padding, as asserted above.
        #[diagnostic::do_not_recommend]
        unsafe impl Texel for $vector {
            const FORMAT: CUarray_format = <$array>::FORMAT;
            const CHANNELS: u32 = <$array>::CHANNELS;
            const VIEW: CUresourceViewFormat = <$array>::VIEW;
        }
    )* };
}

vectors! {
    char2 as [i8; 2];
    char4 as [i8; 4];
    uchar2 as [u8; 2];
    uchar4 as [u8; 4];
    short2 as [i16; 2];
    short4 as [i16; 4];
    ushort2 as [u16; 2];
    ushort4 as [u16; 4];
    int2 as [i32; 2];
    int4 as [i32; 4];
    uint2 as [u32; 2];
    uint4 as [u32; 4];
    float2 as [f32; 2];
    float4 as [f32; 4];
}

#[cfg(feature = "half")]
texels! {
    half::f16: CU_AD_FORMAT_HALF,
        CU_RES_VIEW_FORMAT_FLOAT_1X16 CU_RES_VIEW_FORMAT_FLOAT_2X16 CU_RES_VIEW_FORMAT_FLOAT_4X16;
}
