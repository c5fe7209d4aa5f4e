//! The stack of each thread. It grows upward through local memory: the kernel's variables, a frame
//! for each call in progress, and after the last frame the memory of `alloca`.
//!
//! Lanes that call together share the address of their frame, above all their stack pointers.

use crate::exec::block::{Block, Issue, Stop};
use crate::program::MOST_LOCAL;
use crate::report::FaultKind;
use crate::semantics::{Register, Width, lanes_of};

/// Alignment that PTX guarantees for the addresses from `alloca`.
const LEAST_ALIGN: u32 = 8;

pub(in crate::exec) fn alloca(
    block: &mut Block<'_, '_>,
    issue: Issue,
    (out, width): (Register, Width),
    size: Register,
    align: u32,
) -> Result<(), Stop> {
    let warp_state = &mut block.warps[issue.warp];
    let (mut beyond, mut highest) = (0, 0);
    for lane in lanes_of(issue.active) {
        let start = warp_state.stack[lane].next_multiple_of(align.max(LEAST_ALIGN));
        let end = u64::from(start).checked_add(warp_state.rows.get_wide(size, width, lane));
        let Some(end) = end.filter(|end| *end <= u64::from(MOST_LOCAL)) else {
            beyond |= 1 << lane;
            continue;
        };
        warp_state.stack[lane] = end as u32;
        warp_state.rows.set_wide(out, width, lane, start.into());
        highest = highest.max(end as u32);
    }
    if beyond != 0 {
        return Err(block.fault(FaultKind::StackOverflow, issue.lanes(beyond)));
    }
    warp_state.grow_local(highest);
    Ok(())
}

/// Sets the stack pointers. Fails for one beyond local memory; trusts any other.
pub(in crate::exec) fn stack_restore(
    block: &mut Block<'_, '_>,
    issue: Issue,
    pointer: Register,
    width: Width,
) -> Result<(), Stop> {
    let warp_state = &mut block.warps[issue.warp];
    let mut beyond = 0;
    for lane in lanes_of(issue.active) {
        match warp_state.rows.get_wide(pointer, width, lane) {
            value if value <= MOST_LOCAL.into() => warp_state.stack[lane] = value as u32,
            _ => beyond |= 1 << lane,
        }
    }
    if beyond != 0 {
        return Err(block.fault(FaultKind::StackOverflow, issue.lanes(beyond)));
    }
    Ok(())
}
