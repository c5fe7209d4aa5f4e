//! Structs whose layout the derive has proved, as a library of its own would have them.

use cuprum::memory::DeviceData;
use cuprum::memory::vector::float4;

/// Named fields of several sizes, without padding.
#[derive(Clone, Copy, Debug, PartialEq, DeviceData)]
#[repr(C)]
pub struct Particle {
    /// Place of the element.
    pub position: [f32; 3],
    /// Its mass.
    pub mass: f32,
    pub(crate) id: u64,
}

impl Particle {
    /// A particle at a place.
    pub const fn new(position: [f32; 3], mass: f32, id: u64) -> Self {
        Self { position, mass, id }
    }
}

/// Unnamed fields, one of them derived and one aligned as CUDA does.
#[derive(Clone, Copy, Debug, PartialEq, DeviceData)]
#[repr(C, align(16))]
pub struct Pair(pub float4, pub Wrapped, pub u32, pub [u8; 4]);

/// One field, and the other representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceData)]
#[repr(transparent)]
pub struct Wrapped(
    /// The number.
    pub u64,
);

/// No fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceData)]
#[repr(C)]
pub struct Nothing;

/// A type with commas of its own.
#[derive(Clone, Copy, Debug, DeviceData)]
#[repr(C)]
pub struct Generic {
    /// Both of them.
    pub both: Of<u32, { 1 + 1 }>,
    /// One of them.
    pub one: <Of<u8, 1> as First>::Element,
}

/// Elements by type and number.
pub type Of<T, const N: usize> = [T; N];

/// The first element of an array.
pub trait First {
    /// Its type.
    type Element;
}

impl First for [u8; 1] {
    type Element = u32;
}
