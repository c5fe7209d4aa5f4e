//! Types of elements with names in DLPack.

use cuprum::memory::DeviceData;

use crate::abi::DLDataType;

/// A number in DLPack and the CUDA array interface.
///
/// ```
/// use cuprum_dlpack::{Element, Tensor};
///
/// /// The first element, of any type that DLPack has.
/// fn first<T: Element>(tensor: &Tensor) -> Option<T> {
///     tensor.as_host_slice::<T>().ok()?.first().copied()
/// }
/// assert_eq!(first(&Tensor::export(vec![7u8, 8], &[2])?), Some(7u8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Element: DeviceData + sealed::Element {}

impl<T: DeviceData + sealed::Element> Element for T {}

pub(super) mod sealed {
    use super::DLDataType;

    pub trait Element {
        const TYPE: DLDataType;
        /// Its name in the CUDA array interface.
        const TYPESTR: &'static str;
    }
}

macro_rules! elements {
    ($($ty:ty: $code:literal $typestr:literal;)*) => { $(
        impl sealed::Element for $ty {
            const TYPE: DLDataType = DLDataType { code: $code, bits: size_of::<$ty>() as u8 * 8, lanes: 1 };
            const TYPESTR: &'static str = $typestr;
        }
    )* };
}

elements! {
    i8: 0 "|i1";
    i16: 0 "<i2";
    i32: 0 "<i4";
    i64: 0 "<i8";
    u8: 1 "|u1";
    u16: 1 "<u2";
    u32: 1 "<u4";
    u64: 1 "<u8";
    f32: 2 "<f4";
    f64: 2 "<f8";
}

#[cfg(feature = "half")]
elements! {
    half::f16: 2 "<f2";
}

#[cfg(feature = "num-complex")]
elements! {
    num_complex::Complex<f32>: 5 "<c8";
    num_complex::Complex<f64>: 5 "<c16";
}
