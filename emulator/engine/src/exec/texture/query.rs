//! Queries about textures and surfaces.

use super::{Channel, Object, Shape};
use crate::program::texture::Query;

/// Answers a query about an object, in the numbers of OpenCL, which PTX documents for its queries.
pub(in crate::exec) fn ask(object: &Object, query: Query, level: u32) -> u32 {
    let [width, height, slices] =
        object.levels.get(level as usize).or(object.first()).map_or([0; 3], |level| level.size);
    let Shape { dimensions, layered, cube } = object.shape;
    let normalizes =
        object.format.normalized || object.sampler.as_ref().is_some_and(|sampler| !sampler.integer);
    match query {
        Query::Width => width,
        Query::Height if dimensions >= 2 => height,
        // The layers of a layered array too, as an H200 answers.
        Query::Depth if dimensions == 3 || layered => slices,
        Query::ArraySize if layered && cube => slices / 6,
        Query::ArraySize if layered => slices,
        Query::DataType => match (object.format.channel, normalizes) {
            (Channel::Signed8, true) => 0x10d0,
            (Channel::Signed16, true) => 0x10d1,
            (Channel::Unsigned8, true) => 0x10d2,
            (Channel::Unsigned16, true) => 0x10d3,
            (Channel::Signed8, _) => 0x10d7,
            (Channel::Signed16, _) => 0x10d8,
            (Channel::Signed32, _) => 0x10d9,
            (Channel::Unsigned8, _) => 0x10da,
            (Channel::Unsigned16, _) => 0x10db,
            (Channel::Unsigned32, _) => 0x10dc,
            (Channel::Half, _) => 0x10dd,
            (Channel::Float, _) => 0x10de,
        },
        Query::ChannelOrder => match object.format.channels {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        Query::NormalizedCoordinates => {
            u32::from(object.sampler.as_ref().is_some_and(|sampler| sampler.normalized))
        }
        Query::MipLevels => object.levels.len() as u32,
        Query::Samples => 1,
        Query::Height | Query::Depth | Query::ArraySize | Query::MemoryLayout => 0,
    }
}
