//! CUDA's vector types, which differ from arrays in their alignment.
//!
//! A kernel's `float4` is aligned to 16 bytes, where `[f32; 4]` is to 4: in a buffer that makes no difference, but a
//! parameter lies elsewhere, which [`Function::bind`](crate::Function::bind) notices, and so does a field of a struct.
//!
//! ```
//! use cuprum::vector::float4;
//!
//! assert_eq!((size_of::<float4>(), align_of::<float4>()), (16, 16));
//! let point = float4::new(1.0, 2.0, 3.0, 1.0);
//! assert_eq!((point.x, <[f32; 4]>::from(point)), (1.0, [1.0, 2.0, 3.0, 1.0]));
//! ```
//!
//! Vectors of four numbers of eight bytes are aligned to 16 here, like CUDA's names without a suffix, which version 13.0
//! calls `double4_16a` and so on. C's `long` has no vectors here, since its size depends on the platform.

use super::DeviceData;

macro_rules! vectors {
    ($($name:ident: [$element:ty; $len:literal] align $align:literal { $($field:ident),+ };)*) => { $(
        #[doc = concat!("CUDA's `", stringify!($name), "`: ", $len, " × `", stringify!($element), "`, aligned to ", $align, ".")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        #[repr(C, align($align))]
        pub struct $name {
            $(
                #[doc = concat!("Component ", stringify!($field), ".")]
                pub $field: $element,
            )+
        }

        impl $name {
            #[doc = concat!("A `", stringify!($name), "` of its components.")]
            pub const fn new($($field: $element),+) -> Self {
                Self { $($field),+ }
            }
        }

        impl From<[$element; $len]> for $name {
            fn from([$($field),+]: [$element; $len]) -> Self {
                Self { $($field),+ }
            }
        }

        impl From<$name> for [$element; $len] {
            fn from(vector: $name) -> Self {
                [$(vector.$field),+]
            }
        }

        const _: () = assert!(size_of::<$name>() == $len * size_of::<$element>(), "a vector has padding");

        // SAFETY: numbers in C layout without padding: any bytes are a value.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceData for $name {}

        // SAFETY: numbers, of which all bits zero is one.
        #[cfg(feature = "bytemuck")]
        unsafe impl bytemuck::Zeroable for $name {}

        // SAFETY: numbers in C layout without padding, as was asserted above.
        #[cfg(feature = "bytemuck")]
        unsafe impl bytemuck::Pod for $name {}
    )* };
}

vectors! {
    char2: [i8; 2] align 2 { x, y };
    char3: [i8; 3] align 1 { x, y, z };
    char4: [i8; 4] align 4 { x, y, z, w };
    uchar2: [u8; 2] align 2 { x, y };
    uchar3: [u8; 3] align 1 { x, y, z };
    uchar4: [u8; 4] align 4 { x, y, z, w };
    short2: [i16; 2] align 4 { x, y };
    short3: [i16; 3] align 2 { x, y, z };
    short4: [i16; 4] align 8 { x, y, z, w };
    ushort2: [u16; 2] align 4 { x, y };
    ushort3: [u16; 3] align 2 { x, y, z };
    ushort4: [u16; 4] align 8 { x, y, z, w };
    int2: [i32; 2] align 8 { x, y };
    int3: [i32; 3] align 4 { x, y, z };
    int4: [i32; 4] align 16 { x, y, z, w };
    uint2: [u32; 2] align 8 { x, y };
    uint3: [u32; 3] align 4 { x, y, z };
    uint4: [u32; 4] align 16 { x, y, z, w };
    longlong2: [i64; 2] align 16 { x, y };
    longlong3: [i64; 3] align 8 { x, y, z };
    longlong4: [i64; 4] align 16 { x, y, z, w };
    ulonglong2: [u64; 2] align 16 { x, y };
    ulonglong3: [u64; 3] align 8 { x, y, z };
    ulonglong4: [u64; 4] align 16 { x, y, z, w };
    float2: [f32; 2] align 8 { x, y };
    float3: [f32; 3] align 4 { x, y, z };
    float4: [f32; 4] align 16 { x, y, z, w };
    double2: [f64; 2] align 16 { x, y };
    double3: [f64; 3] align 8 { x, y, z };
    double4: [f64; 4] align 16 { x, y, z, w };
}
