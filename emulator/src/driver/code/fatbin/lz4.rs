//! Decoder of LZ4 blocks.

use super::output::{append, repeat};

const LEAST_MATCH: usize = 4;

/// Decompresses one block, up to `limit` bytes. Returns `None` if it is broken or longer.
pub(super) fn decompress(mut input: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    while let Some((&token, rest)) = input.split_first() {
        input = rest;
        let literals = length(usize::from(token >> 4), &mut input)?;
        let (bytes, rest) = input.split_at_checked(literals)?;
        append(&mut output, bytes, limit)?;
        input = rest;
        if input.is_empty() {
            break;
        }
        let (&offset, rest) = input.split_first_chunk()?;
        input = rest;
        let distance = usize::from(u16::from_le_bytes(offset));
        let len = length(usize::from(token & 15), &mut input)? + LEAST_MATCH;
        repeat(&mut output, distance, len, limit)?;
    }
    Some(output)
}

/// Reads a length of four bits, which continues in bytes while they are at their maximum.
fn length(start: usize, input: &mut &[u8]) -> Option<usize> {
    let mut length = start;
    if start == 15 {
        loop {
            let (&more, rest) = input.split_first()?;
            *input = rest;
            length = length.checked_add(usize::from(more))?;
            if more != u8::MAX {
                break;
            }
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::decompress;

    #[test]
    fn literals_and_an_overlapping_match() {
        let block = [0x35, b'a', b'b', b'c', 3, 0, 0x10, b'!'];
        assert_eq!(decompress(&block, 100).unwrap(), b"abcabcabcabc!");
        assert_eq!(decompress(&block, 11), None);
        assert_eq!(decompress(&block[..4], 100).unwrap(), b"abc");
        assert_eq!(decompress(&block[..5], 100), None);
        assert_eq!(decompress(&[0x01, 1, 0], 100), None);
    }

    #[test]
    fn long_lengths_go_on_in_more_bytes() {
        let mut block = vec![0xf0, 255, 10];
        block.extend([7; 280]);
        assert_eq!(decompress(&block, 280).unwrap(), [7; 280]);
    }
}
