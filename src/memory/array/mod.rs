//! Arrays: memory with a shape, a format and a device-specific layout, for textures and surfaces.

mod array;
mod mipmapped;
mod mipmapped_view;
mod shape;
mod sparse;
mod stored;
mod texel;
mod view;

pub use self::array::Array;
pub use self::mipmapped::MipmappedArray;
pub use self::mipmapped_view::MipmappedView;
pub use self::shape::{ArrayDescriptor, ArrayFlags, ArrayShape};
pub use self::sparse::{TileMap, TilePart};
use self::stored::check;
pub(crate) use self::stored::{Storage, Stored};
pub use self::texel::{Half, Texel};
pub use self::view::{ArrayPart, ArrayView};
