//! Formats of texels: the driver's numbers and the engine's formats.

use cuprum_sys::*;

use crate::exec::texture::{Channel, Format};

use crate::driver::answer::{Answer, INVALID_VALUE};
use crate::driver::call::not_supported;

/// Formats whose number states only the type of a channel. The number of channels is separate.
const PLAIN: [(CUarray_format, Channel); 8] = [
    (CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8, Channel::Unsigned8),
    (CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16, Channel::Unsigned16),
    (CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32, Channel::Unsigned32),
    (CUarray_format::CU_AD_FORMAT_SIGNED_INT8, Channel::Signed8),
    (CUarray_format::CU_AD_FORMAT_SIGNED_INT16, Channel::Signed16),
    (CUarray_format::CU_AD_FORMAT_SIGNED_INT32, Channel::Signed32),
    (CUarray_format::CU_AD_FORMAT_HALF, Channel::Half),
    (CUarray_format::CU_AD_FORMAT_FLOAT, Channel::Float),
];

/// Formats with a fixed number of channels, always read as numbers from 0 or -1 to 1.
const NORMALIZED: [(CUarray_format, Channel, u32); 12] = [
    (CUarray_format::CU_AD_FORMAT_UNORM_INT8X1, Channel::Unsigned8, 1),
    (CUarray_format::CU_AD_FORMAT_UNORM_INT8X2, Channel::Unsigned8, 2),
    (CUarray_format::CU_AD_FORMAT_UNORM_INT8X4, Channel::Unsigned8, 4),
    (CUarray_format::CU_AD_FORMAT_UNORM_INT16X1, Channel::Unsigned16, 1),
    (CUarray_format::CU_AD_FORMAT_UNORM_INT16X2, Channel::Unsigned16, 2),
    (CUarray_format::CU_AD_FORMAT_UNORM_INT16X4, Channel::Unsigned16, 4),
    (CUarray_format::CU_AD_FORMAT_SNORM_INT8X1, Channel::Signed8, 1),
    (CUarray_format::CU_AD_FORMAT_SNORM_INT8X2, Channel::Signed8, 2),
    (CUarray_format::CU_AD_FORMAT_SNORM_INT8X4, Channel::Signed8, 4),
    (CUarray_format::CU_AD_FORMAT_SNORM_INT16X1, Channel::Signed16, 1),
    (CUarray_format::CU_AD_FORMAT_SNORM_INT16X2, Channel::Signed16, 2),
    (CUarray_format::CU_AD_FORMAT_SNORM_INT16X4, Channel::Signed16, 4),
];

/// Returns the format of an array. Compressed and video formats are known but not supported.
pub(super) fn of_array(format: CUarray_format, channels: u32) -> Answer<Format> {
    if let Some(&(_, channel)) = PLAIN.iter().find(|(known, _)| *known == format) {
        return match channels {
            1 | 2 | 4 => Ok(Format { channel, channels, normalized: false }),
            _ => Err(INVALID_VALUE),
        };
    }
    match NORMALIZED.iter().find(|(known, ..)| *known == format) {
        Some(&(_, channel, fixed)) if fixed == channels => Ok(Format { channel, channels, normalized: true }),
        Some(_) => Err(INVALID_VALUE),
        None if format.name().is_some() && is_known_otherwise(format, channels) => Err(not_supported(
            "formats of several planes and of compressed blocks cannot be read here: \
             use a plain format such as CU_AD_FORMAT_UNSIGNED_INT8, and decode in a kernel",
        )),
        None => Err(INVALID_VALUE),
    }
}

/// True if a driver accepts this compressed or multi-planar format with this channel count.
fn is_known_otherwise(format: CUarray_format, channels: u32) -> bool {
    let blocks = CUarray_format::CU_AD_FORMAT_BC1_UNORM.0..=CUarray_format::CU_AD_FORMAT_BC7_UNORM_SRGB.0;
    if blocks.contains(&format.0) { matches!(channels, 1 | 2 | 4) } else { channels == 3 }
}

pub(super) fn of_view(format: CUresourceViewFormat) -> Answer<Format> {
    /// In the order of the numbers, which begin with 1; each with one, two and four channels.
    const CHANNELS: [Channel; 8] = [
        Channel::Unsigned8,
        Channel::Signed8,
        Channel::Unsigned16,
        Channel::Signed16,
        Channel::Unsigned32,
        Channel::Signed32,
        Channel::Half,
        Channel::Float,
    ];
    let index = (format.0 as usize).checked_sub(1).ok_or(INVALID_VALUE)?;
    // The block formats, which follow, never have the size of a plain texel.
    let channel = *CHANNELS.get(index / 3).ok_or(INVALID_VALUE)?;
    Ok(Format { channel, channels: 1 << (index % 3), normalized: false })
}
