//! Descriptions of mistakes in the addresses of refused calls.

use cuprum_sys::FnId;

use crate::memory::{Neighbor, Position};
use crate::settings::ApiCheck;

use crate::driver::call::misuse;
use crate::driver::state::memory;

/// Describes an address in or near an allocation.
fn place(address: u64, neighbor: &Neighbor) -> String {
    match neighbor.position {
        Position::Inside(0) => {
            let text = neighbor.to_string();
            format!("{address:#x} is {}", text.trim_start_matches("0 bytes into "))
        }
        _ => format!("{address:#x} is {neighbor}"),
    }
}

/// Describes an address that lost its upper half.
fn cut(address: u64) -> Option<String> {
    let map = memory().snapshot();
    let whole = map.widened(address)?;
    let allocation = map.nearest(whole)?;
    Some(format!(
        "{address:#x} is the lower half of an address: it was cut to 32 bits, and {}. In Python, `ctypes` passes addresses whole \
         as `c_void_p` or `c_uint64`, with `argtypes`",
        place(whole, &allocation)
    ))
}

#[cold]
pub(super) fn note_range(address: u64, len: u64) {
    misuse(ApiCheck::Certain, || {
        let memory = memory();
        if let Some(region) = memory.find(address) {
            let beyond = address.saturating_add(len).saturating_sub(region.base + region.len);
            let start = place(address, &region.neighbor(address, false));
            return format!("{start}, and {len} bytes from there reach {beyond} bytes past its end");
        }
        if let Some(text) = cut(address) {
            return text;
        }
        match memory.snapshot().nearest(address).filter(|_| memory.is_device_address(address)) {
            Some(neighbor) => place(address, &neighbor),
            None if address == 0 => "the address is null".to_owned(),
            None => format!("{address:#x} is no address of device memory"),
        }
    });
}

/// Notes that no allocation begins at an address that a client frees. Memory that ended with its
/// context does not count, because a client may clean up late. Memory that the driver never knew
/// does not count either, because the call may be a query.
#[cold]
pub(crate) fn note_free(address: u64) {
    let by_client = |call: FnId| !call.symbol().base.contains("Ctx");
    let memory = memory();
    if let Some(region) = memory.find(address) {
        misuse(ApiCheck::Certain, || {
            format!("{}, which this call does not free", place(address, &region.neighbor(address, false)))
        });
    } else if let Some(text) = cut(address) {
        misuse(ApiCheck::Certain, || text);
    } else if let Some(freed) = memory.find_freed(address) {
        if freed.freed_by.is_none_or(by_client) {
            misuse(ApiCheck::Certain, || place(address, &freed));
        }
    } else if memory.is_device_address(address) {
        misuse(ApiCheck::Certain, || format!("no allocation is at {address:#x}"));
    }
}
