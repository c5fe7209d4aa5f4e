//! Bytes and strings that a kernel passes to system functions.

use super::Request;
use super::place::place;
use crate::exec::block::{Block, Site, Stop};

const MOST_TEXT: usize = 65_536;

/// Reads a byte at a generic address. It uses the last cache slot.
fn byte_at(block: &mut Block<'_, '_>, site: Site, address: u64) -> Result<u8, Stop> {
    let cache = block.launch.args.kernel.caches;
    let place = place(block, site, Request::read(None, address, 1, cache))?;
    // SAFETY: `place` checked the byte.
    Ok(unsafe { place.host.read() })
}

/// Reads bytes at a generic address.
pub(in crate::exec) fn bytes_at<const COUNT: usize>(
    block: &mut Block<'_, '_>,
    site: Site,
    address: u64,
) -> Result<[u8; COUNT], Stop> {
    let mut bytes = [0; COUNT];
    for (offset, byte) in bytes.iter_mut().enumerate() {
        *byte = byte_at(block, site, address.wrapping_add(offset as u64))?;
    }
    Ok(bytes)
}

pub(in crate::exec) fn text_at(block: &mut Block<'_, '_>, site: Site, address: u64) -> Result<String, Stop> {
    let mut text = Vec::new();
    while text.len() < MOST_TEXT {
        let byte = byte_at(block, site, address.wrapping_add(text.len() as u64))?;
        if byte == 0 {
            break;
        }
        text.push(byte);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
