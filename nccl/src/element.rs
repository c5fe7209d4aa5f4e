//! Types of elements.

use cuprum::memory::DeviceData;

use crate::raw::ncclDataType_t;

mod sealed {
    pub trait Sealed {}
}

/// A number that NCCL reduces: `f32`, `f64`, `i8`, `i32`, `i64`, `u8`, `u32`, `u64`, and with the
/// feature `half` `f16` and `bf16`. There is no collective of 16-bit integers.
///
/// ```
/// use cuprum_nccl::{Element, raw::ncclDataType_t};
///
/// assert_eq!(<f32 as Element>::DATA_TYPE, ncclDataType_t::ncclFloat32);
/// ```
#[diagnostic::on_unimplemented(
    message = "NCCL has no elements of the type `{Self}`",
    label = "not a number that NCCL reduces",
    note = "it has f32, f64, and integers of 8, 32 and 64 bits; f16 and bf16 by the feature `half`"
)]
pub trait Element: DeviceData + sealed::Sealed {
    /// The type's number in NCCL.
    const DATA_TYPE: ncclDataType_t;
}

macro_rules! elements {
    ($($element:ty => $number:ident;)*) => { $(
        impl sealed::Sealed for $element {}

        impl Element for $element {
            const DATA_TYPE: ncclDataType_t = ncclDataType_t::$number;
        }
    )* };
}

elements! {
    i8 => ncclInt8;
    u8 => ncclUint8;
    i32 => ncclInt32;
    u32 => ncclUint32;
    i64 => ncclInt64;
    u64 => ncclUint64;
    f32 => ncclFloat32;
    f64 => ncclFloat64;
}

#[cfg(feature = "half")]
elements! {
    half::f16 => ncclFloat16;
    half::bf16 => ncclBfloat16;
}
