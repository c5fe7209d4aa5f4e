//! Places the variables of a program in memory.

use core::ptr;

use crate::memory::{Region, RegionKind, Request};
use crate::program::{FUNCTION_STRIDE, Global, GlobalSpace, RelocationTarget};

use crate::driver::answer::{Answer, OUT_OF_MEMORY};
use crate::driver::state::memory;

/// Allocates the selected variables for a context on a device: all, or none if one does not fit.
pub(crate) fn place(
    (context, device): (u64, u32),
    globals: &[Global],
    wanted: impl Fn(usize, &Global) -> bool,
) -> Answer<Vec<Option<Region>>> {
    let memory = memory();
    let mut regions: Vec<Option<Region>> = Vec::with_capacity(globals.len());
    for (index, global) in globals.iter().enumerate() {
        if global.size == 0 || !wanted(index, global) {
            regions.push(None);
            continue;
        }
        let request = Request {
            align: global.align,
            kind: if global.managed { RegionKind::Managed } else { RegionKind::Global },
            writable: global.space != GlobalSpace::Const,
            label: Some(global.name.as_str().into()),
            ..Request::device(global.size, context, device)
        };
        match memory.alloc(&request) {
            Ok(region) => regions.push(Some(region)),
            Err(_) => {
                for region in regions.into_iter().flatten() {
                    let _ = memory.free(region.base);
                }
                return Err(OUT_OF_MEMORY);
            }
        }
    }
    Ok(regions)
}

/// Writes a variable's initial bytes, including the addresses in them.
pub(super) fn initialize(global: &Global, region: &Region, addresses: &[u64]) {
    let mut bytes = global.init.clone();
    for relocation in &global.relocations {
        let base = match relocation.target {
            RelocationTarget::Global(index) => addresses.get(index).copied().unwrap_or(0),
            RelocationTarget::Function(index) => memory().windows().code + FUNCTION_STRIDE * index as u64,
        };
        let address = base.wrapping_add_signed(relocation.addend);
        let value = match relocation.mask {
            Some(mask) if mask != 0 => (address & mask) >> mask.trailing_zeros(),
            _ => address,
        };
        let start = relocation.offset as usize;
        let end = start + relocation.bytes as usize;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        let source = value.to_le_bytes();
        for (to, from) in bytes[start..end].iter_mut().zip(source) {
            *to = from;
        }
    }
    let count = bytes.len().min(region.len as usize);
    // SAFETY: the region is live and at least `count` bytes long, and no other code knows it yet.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), region.host, count) };
}
