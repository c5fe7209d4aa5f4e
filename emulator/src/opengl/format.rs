//! Formats of images that CUDA can share: one, two or four channels of 8, 16 or 32 bits.

/// A format of OpenGL, in the form in which texels are transferred unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// `GL_RGBA` and so on, or `GL_RGBA_INTEGER`.
    pub(crate) external: u32,
    /// `GL_UNSIGNED_BYTE` and so on.
    pub(crate) channel: u32,
    pub(crate) channels: u32,
}

pub(crate) const BYTE: u32 = 0x1400;
pub(crate) const UNSIGNED_BYTE: u32 = 0x1401;
pub(crate) const SHORT: u32 = 0x1402;
pub(crate) const UNSIGNED_SHORT: u32 = 0x1403;
pub(crate) const INT: u32 = 0x1404;
pub(crate) const UNSIGNED_INT: u32 = 0x1405;
pub(crate) const FLOAT: u32 = 0x1406;
pub(crate) const HALF_FLOAT: u32 = 0x140B;

/// Internal formats of one, two and four channels, the type of a channel, and true if OpenGL reads
/// integers.
const FORMATS: [([u32; 3], u32, bool); 11] = [
    // `GL_RED`, `GL_RG`, `GL_RGBA`: OpenGL chooses the bits, which are eight.
    ([0x1903, 0x8227, 0x1908], UNSIGNED_BYTE, false),
    // `GL_R8` and so on.
    ([0x8229, 0x822B, 0x8058], UNSIGNED_BYTE, false),
    // `GL_R16`
    ([0x822A, 0x822C, 0x805B], UNSIGNED_SHORT, false),
    // `GL_R16F`
    ([0x822D, 0x822F, 0x881A], HALF_FLOAT, false),
    // `GL_R32F`
    ([0x822E, 0x8230, 0x8814], FLOAT, false),
    // `GL_R8I`, `GL_R8UI`
    ([0x8231, 0x8237, 0x8D8E], BYTE, true),
    ([0x8232, 0x8238, 0x8D7C], UNSIGNED_BYTE, true),
    // `GL_R16I`, `GL_R16UI`
    ([0x8233, 0x8239, 0x8D88], SHORT, true),
    ([0x8234, 0x823A, 0x8D76], UNSIGNED_SHORT, true),
    // `GL_R32I`, `GL_R32UI`
    ([0x8235, 0x823B, 0x8D82], INT, true),
    ([0x8236, 0x823C, 0x8D70], UNSIGNED_INT, true),
];

/// `GL_RED`, `GL_RG` and `GL_RGBA`; the same for integers.
const EXTERNAL: [[u32; 3]; 2] = [[0x1903, 0x8227, 0x1908], [0x8D94, 0x8228, 0x8D99]];

/// Formats that CUDA treats as ones of four channels, on an H100 with driver 580: `GL_SRGB8_ALPHA8`
/// unconverted; `GL_RGB`, `GL_RGB8` and `GL_RGB32F` with a fourth channel that OpenGL ignores.
const AS_FOUR: [(u32, u32); 4] =
    [(0x8C43, UNSIGNED_BYTE), (0x1907, UNSIGNED_BYTE), (0x8051, UNSIGNED_BYTE), (0x8815, FLOAT)];

impl Format {
    /// Returns the form of an internal format; `None` if CUDA cannot share images of it.
    pub(crate) fn of(internal: u32) -> Option<Self> {
        if let Some(&(_, channel)) = AS_FOUR.iter().find(|(format, _)| *format == internal) {
            return Some(Self { external: EXTERNAL[0][2], channel, channels: 4 });
        }
        FORMATS.iter().find_map(|&(formats, channel, integers)| {
            let index = formats.iter().position(|&format| format == internal)?;
            Some(Self { external: EXTERNAL[usize::from(integers)][index], channel, channels: 1 << index })
        })
    }

    pub(crate) fn bytes(self) -> usize {
        let channel = match self.channel {
            BYTE | UNSIGNED_BYTE => 1,
            SHORT | UNSIGNED_SHORT | HALF_FLOAT => 2,
            _ => 4,
        };
        channel * self.channels as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_as_many_bytes_as_their_names_say() {
        let bytes = |internal| Format::of(internal).map(Format::bytes);
        assert_eq!(bytes(0x8229), Some(1), "GL_R8");
        assert_eq!(bytes(0x822F), Some(4), "GL_RG16F");
        assert_eq!(bytes(0x8D70), Some(16), "GL_RGBA32UI");
        assert_eq!(bytes(0x8051), Some(4), "GL_RGB8");
        assert_eq!(bytes(0x881B), None, "GL_RGB16F");
    }
}
