//! Decoded instructions on textures and surfaces.

use super::memory::AtomicOperation;
use super::types::Type;
use crate::semantics::{Predicate, Register, Width};

/// Shape of an object, as an instruction sees it.
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
    /// Coordinates besides the layer. Those of a cube are a direction.
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

/// Rows of up to three numbers.
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
    /// The level that hardware would find from neighboring threads, which is the first one outside of graphics.
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
    /// Half precision, a component in each register.
    Halves,
    /// Half precision, two components in each register.
    HalfPairs,
}

/// `tex` and `tld4`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    pub place: ObjectPlace,
    /// Coordinates are integers: texels, without filtering.
    pub whole: bool,
    pub level: LevelOperand,
    /// Texels to add to the coordinates.
    pub offsets: Vector,
    /// One component of four texels.
    pub gathered: Option<u8>,
    pub result: Sampled,
    /// Its slot in the translation cache.
    pub cache: u32,
    pub out: Vec<Register>,
    /// Set to true if memory is behind the texels, which it always is here.
    pub resident: Option<Predicate>,
}

/// Behavior of surface accesses beyond the edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outside {
    Trap,
    /// The nearest element.
    Clamp,
    /// Loads give zero, stores do nothing.
    Zero,
}

/// Operation on elements of a surface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SurfaceAction {
    Load(Vec<Register>),
    Store(Vec<Register>),
    /// Values are converted to the format of the surface; the first coordinate counts elements.
    StoreConverted(Vec<Register>),
    Reduce {
        operation: AtomicOperation,
        ty: Type,
        value: Register,
        /// True if the first coordinate counts elements.
        by_element: bool,
    },
}

/// `suld`, `sust` and `sured`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SurfaceAccess {
    pub place: ObjectPlace,
    /// Bytes of one element of the access, and the width of its registers.
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

/// The kinds of objects that `istypep` tells apart.
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
