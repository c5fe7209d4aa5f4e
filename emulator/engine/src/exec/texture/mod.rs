//! Textures and surfaces: objects, and their sampling.
//!
//! | module | contents |
//! |---|---|
//! | `object` | texture objects: memory with a shape, and its sampling |
//! | `format` | bytes to values and back |
//! | `address`, `cube` | coordinates to texels |
//! | `level` | mip levels |
//! | `filter` | texels to a sample |
//! | `srgb` | sRGB to linear values |
//! | `sample` | a whole sample |
//! | `query` | queries of programs about an object |

mod address;
mod cube;
mod filter;
mod format;
mod level;
mod object;
mod query;
pub(in crate::exec) mod sample;
mod srgb;

pub(in crate::exec) use format::MOST_BYTES;
pub use format::{Channel, Format};
pub use object::{AddressMode, Handle, Level, Object, Sampler, Shape};
pub(in crate::exec) use query::ask;
