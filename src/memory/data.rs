//! Types that device memory can hold.

use cuprum_sys::CUdeviceptr;

/// Plain data: it can be copied to and from a device by bytes, and every bit pattern is valid.
///
/// Implemented for the integers and floats, arrays of them, CUDA's [vector types](super::vector),
/// and structs declared as plain data. Not implemented for `bool`, `char`, `Option`, references or
/// pointers, because some bit patterns are invalid for them. The features `half` and `num-complex`
/// add `f16` and `bf16`, and `num_complex::Complex`. `Plain` wraps a type that is `bytemuck::Pod`.
///
/// The feature `derive` has `#[derive(DeviceData)]`, which needs no `unsafe`: the compiler checks
/// that the struct has C layout, that each field is plain data, and that there is no padding.
/// Without it:
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Particle { position: [f32; 3], mass: f32 }
/// // SAFETY: four floats in C layout; any bytes are valid.
/// unsafe impl cuprum::memory::DeviceData for Particle {}
/// ```
///
/// # Safety
/// 1. Every bit pattern is a valid value of the type.
/// 2. Its layout is defined (`#[repr(C)]` or `#[repr(transparent)]`) and equal to the kernel's.
/// 3. It contains no reference, host pointer, or handle that is valid only on the host.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data that a device can hold",
    label = "not plain data",
    note = "plain data are numbers, arrays of them, CUDA's vector types, and structs with `#[repr(C)]` and \
            `#[derive(DeviceData)]` (feature `derive`)",
    note = "`bool`, `char`, references and pointers are not: a device can leave bytes there that are no value of them"
)]
pub unsafe trait DeviceData: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($type:ty)*) => { $(
        // SAFETY: a primitive number: every bit pattern is valid, and it has C layout.
        unsafe impl DeviceData for $type {}
    )* };
}

plain!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64);

// SAFETY: elements follow each other, and each is plain data.
unsafe impl<T: DeviceData, const N: usize> DeviceData for [T; N] {}

/// Plain data that the driver can fill memory with: values of one, two or four bytes.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::Fill;
/// use cuprum::{Buffer, Current, MemoryError};
///
/// /// A buffer in which every element is `value`.
/// fn filled<'ctx, T: Fill>(
///     cx: &Current<'_, 'ctx>,
///     len: usize,
///     value: T,
/// ) -> Result<Buffer<'ctx, T>, MemoryError> {
///     let mut buffer = Buffer::alloc(cx, len)?;
///     cx.fill(&mut buffer, value)?;
///     Ok(buffer)
/// }
///
/// assert_eq!(filled(&cx, 3, 0.5f32)?.to_vec(&cx)?, [0.5; 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Fill: DeviceData + sealed::Fill {}

impl<T: DeviceData + sealed::Fill> Fill for T {}

/// The bits of one element.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// One byte.
    Byte(u8),
    /// Two bytes.
    Half(u16),
    /// Four bytes.
    Word(u32),
}

pub(crate) mod sealed {
    pub trait Fill {
        fn pattern(self) -> super::Pattern;
    }
}

macro_rules! fills {
    ($($type:ty: $value:ident => $pattern:expr;)*) => { $(
        impl sealed::Fill for $type {
            fn pattern(self) -> Pattern {
                let $value = self;
                $pattern
            }
        }
    )* };
}

fills! {
    u8: value => Pattern::Byte(value);
    i8: value => Pattern::Byte(value as u8);
    u16: value => Pattern::Half(value);
    i16: value => Pattern::Half(value as u16);
    u32: value => Pattern::Word(value);
    i32: value => Pattern::Word(value as u32);
    f32: value => Pattern::Word(value.to_bits());
}

// SAFETY: a transparent struct around the bits of a number.
#[cfg(feature = "half")]
#[diagnostic::do_not_recommend]
unsafe impl DeviceData for half::f16 {}

// SAFETY: a transparent struct around the bits of a number.
#[cfg(feature = "half")]
#[diagnostic::do_not_recommend]
unsafe impl DeviceData for half::bf16 {}

#[cfg(feature = "half")]
fills! {
    half::f16: value => Pattern::Half(value.to_bits());
    half::bf16: value => Pattern::Half(value.to_bits());
}

// SAFETY: a struct in C layout of two plain values of the same type, without padding.
#[cfg(feature = "num-complex")]
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceData> DeviceData for num_complex::Complex<T> {}

/// A value of a [`bytemuck::Pod`] type, as plain data. Feature `bytemuck`.
///
/// For types of other crates, which cannot implement [`DeviceData`]. Wraps slices in place:
///
/// ```
/// use bytemuck::TransparentWrapper;
/// use cuprum::memory::Plain;
///
/// let words = [1u32, 2, 3];
/// let plain: &[Plain<u32>] = Plain::wrap_slice(&words);
/// assert_eq!(Plain::peel_slice(plain), words);
/// ```
#[cfg(feature = "bytemuck")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
#[expect(clippy::exhaustive_structs, reason = "one value")]
pub struct Plain<T>(pub T);

// SAFETY: `Pod`: every bit pattern is valid, without padding or pointers, in a layout of C.
#[cfg(feature = "bytemuck")]
#[diagnostic::do_not_recommend]
unsafe impl<T: bytemuck::Pod + Send + Sync> DeviceData for Plain<T> {}

// SAFETY: the attribute `repr(transparent)` with that one field.
#[cfg(feature = "bytemuck")]
unsafe impl<T> bytemuck::TransparentWrapper<T> for Plain<T> {}

// SAFETY: same as `T`, the only field.
#[cfg(feature = "bytemuck")]
unsafe impl<T: bytemuck::Zeroable> bytemuck::Zeroable for Plain<T> {}

// SAFETY: same as `T`, the only field.
#[cfg(feature = "bytemuck")]
unsafe impl<T: bytemuck::Pod> bytemuck::Pod for Plain<T> {}

// SAFETY: a number of eight bytes.
#[cfg(feature = "bytemuck")]
unsafe impl bytemuck::Zeroable for DeviceAddress {}

// SAFETY: a number of eight bytes.
#[cfg(feature = "bytemuck")]
unsafe impl bytemuck::Pod for DeviceAddress {}

/// An address in device memory, for structs and kernels. It does not keep the memory alive.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{DeviceAddress, DeviceData};
/// use cuprum::Buffer;
///
/// /// A kernel parameter passed by value: an address and a length.
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Vector { at: DeviceAddress, len: u64 }
/// // SAFETY: two numbers of eight bytes in C layout; any bytes are valid.
/// unsafe impl DeviceData for Vector {}
///
/// let numbers = Buffer::from_slice(&cx, &[1.0f32, 2.0])?;
/// // `numbers` must live while kernels use the address. This is not checked.
/// let vector = Vector { at: DeviceAddress(numbers.as_raw()), len: numbers.len() as u64 };
/// let vectors = Buffer::from_slice(&cx, &[vector])?;
/// assert_eq!(vectors.to_vec(&cx)?[0].len, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
#[expect(clippy::exhaustive_structs, reason = "a number")]
pub struct DeviceAddress(pub CUdeviceptr);

// SAFETY: a number of eight bytes, which only a device dereferences.
unsafe impl DeviceData for DeviceAddress {}
