//! Matrix instructions of a warp, and the layout of elements in lanes.

use super::memory::Address;
use super::sparse::Sparse;
use crate::ptx::Space;
use crate::semantics::{LANES, Register};

/// A matrix that takes part in a product: `d = a * b + c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    A,
    B,
    C,
    D,
}

/// The type of an element of a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    F16,
    Bf16,
    /// Single precision without the low bits.
    Tf32,
    F32,
    F64,
    S32,
    U8,
    S8,
    U4,
    S4,
    /// A single bit.
    B1,
    E4m3,
    E5m2,
}

impl Element {
    /// Returns the size in a register and in memory.
    #[inline]
    pub fn bits(self) -> u32 {
        match self {
            Element::B1 => 1,
            Element::U4 | Element::S4 => 4,
            Element::U8 | Element::S8 | Element::E4m3 | Element::E5m2 => 8,
            Element::F16 | Element::Bf16 => 16,
            Element::Tf32 | Element::F32 | Element::S32 => 32,
            Element::F64 => 64,
        }
    }

    /// Returns the number of elements per register.
    #[inline]
    pub fn packed(self) -> u32 {
        (32 / self.bits()).max(1)
    }
}

/// Layout of elements in lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// The layout that PTX documents for `mma`.
    Documented,
    /// The layout documented for half-precision `mma.m8n8k4`: four products of eight lanes each.
    /// `by_column` is true for factors stored by column.
    QuadPairs { by_column: [bool; 2] },
    /// Any layout, as for `wmma`.
    Opaque,
}

/// `mma` and `wmma.mma`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatrixProduct {
    pub layout: Layout,
    /// Rows of `a`, columns of `b`, and their common dimension.
    pub shape: [u32; 3],
    /// Types of the elements of `a`, `b`, `c` and `d`.
    pub types: [Element; 4],
    pub a: Vec<Register>,
    pub b: Vec<Register>,
    pub c: Vec<Register>,
    pub d: Vec<Register>,
    pub saturate: bool,
    /// For a left factor that stores half of its elements, their positions.
    pub sparse: Option<Sparse>,
    /// For single bits: multiplies by exclusive or instead of and.
    pub differ: bool,
    /// For each part, the places of the lanes' first elements, of their second ones, and so on, in
    /// the matrix row by row. The matrices of several products follow each other.
    pub places: [Vec<u16>; 4],
}

/// `wmma.load` and `wmma.store`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatrixMove {
    pub store: bool,
    pub part: Part,
    pub by_column: bool,
    pub shape: [u32; 3],
    pub space: Option<Space>,
    pub ty: Element,
    pub registers: Vec<Register>,
    pub address: Address,
    /// Number of elements from one row, or column, to the next.
    pub stride: Option<Register>,
    pub cache: u32,
}

/// `ldmatrix` and `stmatrix`: up to four tiles of 8 x 8, with one row at each lane's address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatrixRows {
    pub store: bool,
    pub registers: Vec<Register>,
    pub address: Address,
    pub space: Option<Space>,
    pub transposed: bool,
    pub cache: u32,
}

/// Operations of the lanes of a warp on matrices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Matrix {
    Product(MatrixProduct),
    Move(MatrixMove),
    Rows(MatrixRows),
    /// `movmatrix`: transposes a tile of 8 x 8.
    Transpose {
        out: Register,
        value: Register,
    },
}

impl MatrixProduct {
    #[inline]
    pub fn extent(&self, part: Part) -> [u32; 2] {
        match (part, self.sparse, extent(self.shape, part)) {
            (Part::A, Some(sparse), [rows, _]) => [rows, sparse.stored],
            (.., whole) => whole,
        }
    }

    #[inline]
    pub fn ty(&self, part: Part) -> Element {
        self.types[part as usize]
    }

    /// Returns the number of products computed at once, each by some of the lanes.
    #[inline]
    pub fn groups(&self) -> u32 {
        if matches!(self.layout, Layout::QuadPairs { .. }) { 4 } else { 1 }
    }

    /// Returns the product in which a lane takes part.
    fn group_of(&self, lane: u32) -> u32 {
        lane / 4 % self.groups()
    }

    /// Returns the number of elements of a part per lane.
    #[inline]
    pub fn elements(&self, part: Part) -> u32 {
        let [rows, columns] = self.extent(part);
        rows * columns * self.groups() / LANES as u32
    }

    /// Returns the number of registers of a part per lane.
    #[inline]
    pub fn registers(&self, part: Part) -> u32 {
        match self.layout {
            Layout::Opaque => MatrixProduct::opaque_registers(self.shape, part, self.ty(part)),
            _ => self.elements(part) / self.ty(part).packed(),
        }
    }

    /// Returns the number of registers of a part per lane, for `wmma`.
    pub(crate) fn opaque_registers(shape: [u32; 3], part: Part, ty: Element) -> u32 {
        let [rows, columns] = extent(shape, part);
        match (part, ty) {
            // The same number for half-precision factors of any shape; elements repeat in them.
            (Part::A | Part::B, Element::F16) => 8,
            _ => rows * columns / LANES as u32 / ty.packed(),
        }
    }

    /// Returns the places of a part's elements, as in `places`.
    pub(crate) fn places_of(&self, part: Part) -> Vec<u16> {
        let [rows, columns] = self.extent(part);
        let lanes = |element| (0..LANES as u32).map(move |lane| (lane, element));
        let place = |(lane, element)| {
            let [row, column] = self.position(part, lane, element);
            (self.group_of(lane) * rows * columns + row * columns + column) as u16
        };
        (0..self.elements(part)).flat_map(lanes).map(place).collect()
    }

    /// Returns the row and column of a lane's `element`-th value.
    fn position(&self, part: Part, lane: u32, element: u32) -> [u32; 2] {
        let [_, columns] = self.extent(part);
        let by_column = match self.layout {
            Layout::Opaque => return opaque_position(columns, lane, element),
            Layout::QuadPairs { by_column } => Some(by_column),
            Layout::Documented => None,
        };
        if let Some([a_by_column, b_by_column]) = by_column {
            let (member, upper) = (lane % 4, lane / 16 * 4);
            return match (part, self.ty(part)) {
                (Part::A, _) if a_by_column => [element + upper, member],
                (Part::A, _) => [member + upper, element],
                (Part::B, _) if b_by_column => [element, member + upper],
                (Part::B, _) => [member, element + upper],
                (_, Element::F16) => [member + upper, element],
                _ => [(lane & 1) + (element & 2) + upper, (element & 4) + (lane & 2) + (element & 1)],
            };
        }
        let (group, member) = (lane / 4, lane % 4);
        let packed = self.ty(part).packed();
        let (register, inner) = (element / packed, element % packed);
        match part {
            Part::A => [group + 8 * (register % 2), member * packed + inner + register / 2 * 4 * packed],
            Part::B => [member * packed + inner + register * 4 * packed, group],
            // Two neighbors in each pair of registers, or packed in one register.
            Part::C | Part::D => [group + 8 * (element / 2), member * 2 + element % 2],
        }
    }
}

#[inline]
pub fn extent([m, n, k]: [u32; 3], part: Part) -> [u32; 2] {
    match part {
        Part::A => [m, k],
        Part::B => [k, n],
        Part::C | Part::D => [m, n],
    }
}

#[inline]
pub fn opaque_position(columns: u32, lane: u32, element: u32) -> [u32; 2] {
    let index = element * LANES as u32 + lane;
    [index / columns, index % columns]
}
