//! Decoded instructions on textures and surfaces.

use super::memory::AtomicOperation;
use super::types::Type;
use crate::semantics::{Predicate, Register, Width};

/// Shape of an object in an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Geometry {
    Line,
    Plane,
    Solid,
    LineLayers,
    PlaneLayers,
    Cube,
    CubeLayers,
}

impl Geometry {
    /// Returns the number of coordinates without the layer. For a cube they are a direction.
    #[inline]
    pub fn axes(self) -> usize {
        match self {
            Geometry::Line | Geometry::LineLayers => 1,
            Geometry::Plane | Geometry::PlaneLayers => 2,
            Geometry::Solid | Geometry::Cube | Geometry::CubeLayers => 3,
        }
    }

    #[inline]
    pub fn has_layers(self) -> bool {
        matches!(self, Geometry::LineLayers | Geometry::PlaneLayers | Geometry::CubeLayers)
    }

    #[inline]
    pub fn is_cube(self) -> bool {
        matches!(self, Geometry::Cube | Geometry::CubeLayers)
    }
}

/// Up to three registers.
pub type Vector = [Option<Register>; 3];

/// Place in an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectPlace {
    pub geometry: Geometry,
    /// The object's handle.
    pub object: Register,
    pub layer: Option<Register>,
    pub coordinates: Vector,
}

/// Mip level that is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LevelOperand {
    /// The level that hardware derives from neighboring threads: outside of graphics the first one.
    Implicit,
    Base,
    Number(Register),
    Gradients(Vector, Vector),
}

/// Form of a sample's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sampled {
    /// 32 bits per component.
    Words,
    /// Half precision, one component per register.
    Halves,
    /// Half precision, two components per register.
    HalfPairs,
}

/// `tex` and `tld4`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    pub place: ObjectPlace,
    /// True if coordinates are integers: texels, without filtering.
    pub whole: bool,
    pub level: LevelOperand,
    /// Texels to add to the coordinates.
    pub offsets: Vector,
    /// The component to gather from four texels.
    pub gathered: Option<u8>,
    pub result: Sampled,
    /// Its slot in the translation cache.
    pub cache: u32,
    pub out: Vec<Register>,
    /// Set to true if the texels are in memory, which they always are here.
    pub resident: Option<Predicate>,
}

/// Behavior of surface accesses beyond the edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outside {
    Trap,
    /// Uses the nearest element.
    Clamp,
    /// Loads return zero, stores have no effect.
    Zero,
}

/// Operation on elements of a surface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SurfaceAction {
    Load(Vec<Register>),
    Store(Vec<Register>),
    /// Converts values to the format of the surface. The first coordinate is in elements.
    StoreConverted(Vec<Register>),
    Reduce {
        operation: AtomicOperation,
        ty: Type,
        value: Register,
        /// True if the first coordinate is in elements.
        by_element: bool,
    },
}

/// `suld`, `sust` and `sured`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SurfaceAccess {
    pub place: ObjectPlace,
    /// Size of one element of the access, and the width of its registers.
    pub bytes: u32,
    pub width: Width,
    pub outside: Outside,
    pub cache: u32,
    pub action: SurfaceAction,
}

/// Query of `txq` and `suq`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Query {
    Width,
    Height,
    Depth,
    DataType,
    ChannelOrder,
    NormalizedCoordinates,
    ArraySize,
    MipLevels,
    Samples,
    MemoryLayout,
}

/// The kinds of objects that `istypep` distinguishes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    Texture,
    Sampler,
    Surface,
}

/// An instruction on an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ObjectOp {
    Sample(Sample),
    Access(SurfaceAccess),
    Query { surface: bool, query: Query, object: Register, level: Option<Register>, out: Register },
    IsKind { kind: ObjectKind, object: Register, out: Predicate },
}
