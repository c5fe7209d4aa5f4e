//! Bulk copies: `cp.async.bulk`, with and without a tensor map, and waits for them.

use super::memory::{Address, AtomicOperation};
use super::types::Type;
use crate::ptx::Space;
use crate::semantics::{Register, Width};

/// The data that a copy moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    Bytes(Register),
    /// A part of a tensor, whose map is at the destination or source address in global memory.
    Tensor {
        /// One per dimension.
        coordinates: Vec<Register>,
        /// Offsets in images, for copies of pixels (`im2col`).
        offsets: Vec<Register>,
        /// True for copies of pixels.
        columns: bool,
        /// Slot of the map in the translation cache.
        cache: u32,
    },
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`, including copies of tensors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BulkCopy {
    pub to: Address,
    pub from: Address,
    /// The spaces of destination and source.
    pub spaces: [Space; 2],
    pub extent: Extent,
    /// Operation that combines each element with the destination; a tensor's map has its type.
    pub operation: Option<(AtomicOperation, Type)>,
    /// The blocks that receive the bytes instead of the destination's, one bit each by rank.
    pub multicast: Option<Register>,
    /// The barrier to signal when bytes arrive. Otherwise the copy belongs to its thread's group.
    pub told: Option<Address>,
    /// Translation caches of destination, source and barrier.
    pub caches: [u32; 3],
}

/// `cp.async.bulk.commit_group` and `wait_group`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BulkGroup {
    /// Combines the thread's copies since the last group into a group.
    Commit,
    /// Waits until at most `most` of its last groups are in progress.
    Wait { most: u32 },
}

/// A field of a map that kernels set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    Address,
    LastDimension,
    Tile,
    Size,
    Stride,
    Step,
    Element,
    Interleave,
    Swizzle,
    Fill,
}

/// Operations of kernels on tensor maps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MapOp {
    /// `tensormap.replace`: sets a field.
    Replace {
        field: Field,
        space: Option<Space>,
        address: Address,
        /// The dimension, for fields with a value per dimension.
        dimension: u32,
        value: Register,
        width: Width,
        cache: u32,
    },
    /// `tensormap.cp_fenceproxy`: copies a map from shared to global memory.
    Copy { to: Address, from: Address, caches: [u32; 2] },
}
