//! The shared device of tests, and the modes of this build.

use cuprum_engine::exec::Execution;
pub(crate) use cuprum_testing::device::{Args, Buffer, Device, Noted};

/// The modes whose results are compared, the plain one first.
#[cfg(not(feature = "compile"))]
pub(crate) const MODES: [Execution; 2] = [Execution::Plain, Execution::Vector];
#[cfg(feature = "compile")]
pub(crate) const MODES: [Execution; 6] = [
    Execution::Plain,
    Execution::Vector,
    Execution::Compiled,
    Execution::Quads,
    Execution::Octets,
    Execution::Warps,
];

/// The modes that differ in blocks whose rows have fewer threads than a warp.
#[cfg(not(feature = "compile"))]
pub(crate) const MODES_OF_NARROW_BLOCKS: [Execution; 2] = MODES;
#[cfg(feature = "compile")]
pub(crate) const MODES_OF_NARROW_BLOCKS: [Execution; 5] =
    [Execution::Plain, Execution::Vector, Execution::Compiled, Execution::Quads, Execution::Octets];
