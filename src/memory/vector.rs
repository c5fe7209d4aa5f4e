//! CUDA's vector types, which differ from arrays in their alignment.
//!
//! A kernel's `float4` is aligned to 16 bytes, but `[f32; 4]` to 4. This makes no difference in a
//! buffer. It changes the offset of a parameter, which
//! [`Function::bind`](crate::module::Function::bind) checks, and of a struct field.
//!
//! ```
//! use cuprum::memory::vector::float4;
//!
//! assert_eq!((size_of::<float4>(), align_of::<float4>()), (16, 16));
//! let point = float4::new(1.0, 2.0, 3.0, 1.0);
//! assert_eq!((point.x, <[f32; 4]>::from(point)), (1.0, [1.0, 2.0, 3.0, 1.0]));
//! ```
//!
//! Each name stands for a [`Vector2`], [`Vector3`] or [`Vector4`] of its components. Vectors of
//! four eight-byte numbers are aligned to 16 here, like CUDA's names without a suffix, which
//! version 13.0 calls `double4_16a` and so on. There are no vectors of C's `long`, because its size
//! depends on the platform.

use super::DeviceData;

use self::component::{Align2, Align4, Align8, Align16, Component};
use crate::raw::debug::debug;

mod component {
    use crate::memory::DeviceData;

    /// A number that CUDA has vectors of.
    pub trait Component: DeviceData + std::fmt::Debug {
        /// Alignment of a vector of two.
        type Two: Copy + Default + PartialEq + PartialOrd + Send + Sync + 'static;
        /// Alignment of a vector of four.
        type Four: Copy + Default + PartialEq + PartialOrd + Send + Sync + 'static;
    }

    macro_rules! alignments {
        ($($name:ident: $bytes:literal)*) => { $(
            /// A zero-sized type with this alignment.
            #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
            #[repr(align($bytes))]
            pub struct $name;
        )* };
    }

    alignments!(Align2: 2 Align4: 4 Align8: 8 Align16: 16);
}

macro_rules! components {
    ($($component:ty: $two:ident $four:ident, $name2:ident $name3:ident $name4:ident;)*) => { $(
        impl Component for $component {
            type Two = $two;
            type Four = $four;
        }

        #[doc = concat!("CUDA's `", stringify!($name2), "`.")]
        #[allow(non_camel_case_types, reason = "CUDA's name")]
        pub type $name2 = Vector2<$component>;
        #[doc = concat!("CUDA's `", stringify!($name3), "`.")]
        #[allow(non_camel_case_types, reason = "CUDA's name")]
        pub type $name3 = Vector3<$component>;
        #[doc = concat!("CUDA's `", stringify!($name4), "`.")]
        #[allow(non_camel_case_types, reason = "CUDA's name")]
        pub type $name4 = Vector4<$component>;

        const _: () = assert!(
            size_of::<$name2>() == 2 * size_of::<$component>()
                && size_of::<$name3>() == 3 * size_of::<$component>()
                && size_of::<$name4>() == 4 * size_of::<$component>(),
            "a vector has padding"
        );
    )* };
}

macro_rules! vectors {
    ($($name:ident: $len:literal as $align:ty { $($field:ident),+ };)*) => { $(
        #[doc = concat!("Vector of ", $len, " numbers, in the alignment of CUDA's.")]
        ///
        /// ```
        #[doc = concat!("let vector = cuprum::memory::vector::", stringify!($name), "::from([7u32; ", $len, "]);")]
        /// assert_eq!((vector.x, vector.y), (7, 7));
        /// ```
        #[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
        #[repr(C)]
        pub struct $name<T: Component> {
            align: [$align; 0],
            $(
                #[doc = concat!("Component ", stringify!($field), ".")]
                pub $field: T,
            )+
        }

        impl<T: Component> $name<T> {
            /// Makes a vector of its components.
            pub const fn new($($field: T),+) -> Self {
                Self { align: [], $($field),+ }
            }
        }

        impl<T: Component> From<[T; $len]> for $name<T> {
            fn from([$($field),+]: [T; $len]) -> Self {
                Self::new($($field),+)
            }
        }

        impl<T: Component> From<$name<T>> for [T; $len] {
            fn from(vector: $name<T>) -> Self {
                [$(vector.$field),+]
            }
        }

        debug! {
            [T: Component] $name<T>: |this, f|
            f.debug_struct(stringify!($name))$(.field(stringify!($field), &this.$field))+.finish()
        }

        // SAFETY: numbers in C layout without padding, as asserted: every bit pattern is valid.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Component> DeviceData for $name<T> {}

        // SAFETY: numbers, for which all zero bits are valid.
        #[cfg(feature = "bytemuck")]
        unsafe impl<T: Component + bytemuck::Zeroable> bytemuck::Zeroable for $name<T> {}

        // SAFETY: numbers in C layout without padding, as above.
        #[cfg(feature = "bytemuck")]
        unsafe impl<T: Component + bytemuck::Pod> bytemuck::Pod for $name<T> {}
    )* };
}

vectors! {
    Vector2: 2 as T::Two { x, y };
    Vector3: 3 as T { x, y, z };
    Vector4: 4 as T::Four { x, y, z, w };
}

components! {
    i8: Align2 Align4, char2 char3 char4;
    u8: Align2 Align4, uchar2 uchar3 uchar4;
    i16: Align4 Align8, short2 short3 short4;
    u16: Align4 Align8, ushort2 ushort3 ushort4;
    i32: Align8 Align16, int2 int3 int4;
    u32: Align8 Align16, uint2 uint3 uint4;
    i64: Align16 Align16, longlong2 longlong3 longlong4;
    u64: Align16 Align16, ulonglong2 ulonglong3 ulonglong4;
    f32: Align8 Align16, float2 float3 float4;
    f64: Align16 Align16, double2 double3 double4;
}
