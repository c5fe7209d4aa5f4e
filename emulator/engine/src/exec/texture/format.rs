//! Formats of texels, and conversion between bytes and values.

use crate::semantics::float::ZERO;
use crate::semantics::half::{F16, Half};

/// Maximum number of bytes of a texel.
pub(in crate::exec) const MOST_BYTES: usize = 16;

/// One channel of a texel.
///
/// ```
/// assert_eq!(cuprum_engine::exec::texture::Channel::Half.bytes(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Channel {
    /// 8 bits.
    Unsigned8,
    /// 16 bits.
    Unsigned16,
    /// 32 bits.
    Unsigned32,
    /// 8 bits.
    Signed8,
    /// 16 bits.
    Signed16,
    /// 32 bits.
    Signed32,
    /// Half precision.
    Half,
    /// Single precision.
    Float,
}

impl Channel {
    /// Returns the bytes per value.
    pub fn bytes(self) -> u32 {
        match self {
            Channel::Unsigned8 | Channel::Signed8 => 1,
            Channel::Unsigned16 | Channel::Signed16 | Channel::Half => 2,
            Channel::Unsigned32 | Channel::Signed32 | Channel::Float => 4,
        }
    }

    /// Returns the integer that represents one, if integers of this kind can represent numbers.
    pub(super) fn scale(self) -> Option<i32> {
        match self {
            Channel::Unsigned8 => Some(0xff),
            Channel::Signed8 => Some(0x7f),
            Channel::Unsigned16 => Some(0xffff),
            Channel::Signed16 => Some(0x7fff),
            _ => None,
        }
    }

    pub(super) fn is_signed(self) -> bool {
        matches!(self, Channel::Signed8 | Channel::Signed16 | Channel::Signed32)
    }

    /// Returns the value as 32 bits: integers extended, numbers in single precision.
    pub(super) fn decode(self, bytes: &[u8]) -> u32 {
        let mut raw = [0; 4];
        for (to, from) in raw.iter_mut().zip(bytes).take(self.bytes() as usize) {
            *to = *from;
        }
        let raw = u32::from_le_bytes(raw);
        match self {
            Channel::Half => F16::from_bits(raw as u16).to_f32().to_bits(),
            Channel::Signed8 => raw as i8 as u32,
            Channel::Signed16 => raw as i16 as u32,
            _ => raw,
        }
    }

    /// Converts the value of a store: integers are clamped to the channel's range, numbers rounded.
    pub(in crate::exec) fn encode(self, value: u32) -> [u8; 4] {
        let bits = 8 * self.bytes();
        match self {
            Channel::Half if f32::from_bits(value).is_nan() => 0x7e00,
            Channel::Half => u32::from(F16::round::<ZERO>(f32::from_bits(value).into()).bits()),
            Channel::Float => value,
            _ if bits == 32 => value,
            _ if self.is_signed() => {
                let most = (1 << (bits - 1)) - 1;
                (value as i32).clamp(-most - 1, most) as u32
            }
            _ => value.min((1 << bits) - 1),
        }
        .to_le_bytes()
    }
}

/// The format of a texel.
///
/// ```
/// use cuprum_engine::exec::texture::{Channel, Format};
///
/// assert_eq!(Format { channel: Channel::Unsigned8, channels: 4, normalized: false }.bytes(), 4);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Format of each channel.
    pub channel: Channel,
    /// 1, 2 or 4.
    pub channels: u32,
    /// True if integers are always read as numbers from 0, or -1, to 1.
    pub normalized: bool,
}

impl Format {
    /// Returns the bytes per texel.
    pub fn bytes(&self) -> u32 {
        self.channel.bytes() * self.channels
    }
}
