//! What may lie in device memory.

use cuprum_sys::CUdeviceptr;

/// Plain data: what can be copied to and from a device byte for byte, and be read there whatever the bytes are.
///
/// It holds for the integers and floats, arrays of them, and structs declared so. It does not hold for `bool`,
/// `char`, `Option`, references or pointers: not every pattern of bytes is a value of those.
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Particle { position: [f32; 3], mass: f32 }
/// // SAFETY: four floats in C layout; any bytes are a value.
/// unsafe impl cuprum::DeviceData for Particle {}
/// ```
///
/// # Safety
/// 1. Every pattern of bytes is a valid value of the type.
/// 2. The type's layout is defined (`#[repr(C)]` or `#[repr(transparent)]`), and the kernel's type has the same.
/// 3. It holds no reference, host pointer, or handle that means something on the host alone.
pub unsafe trait DeviceData: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($type:ty)*) => { $(
        // SAFETY: a primitive number: any bytes are a value, and its layout is that of C.
        unsafe impl DeviceData for $type {}
    )* };
}

plain!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64);

// SAFETY: elements lie one after another, and each is plain data.
unsafe impl<T: DeviceData, const N: usize> DeviceData for [T; N] {}

/// Plain data that the driver can fill memory with: numbers of one, two or four bytes.
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

mod sealed {
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

/// An address in device memory, for structs and kernels that take one. It keeps nothing alive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct DeviceAddress(pub CUdeviceptr);

// SAFETY: a number of eight bytes; only a device gives it a meaning.
unsafe impl DeviceData for DeviceAddress {}
