//! The stack of each thread, which grows upward through its local memory: the kernel's variables, then a frame for each
//! call in progress, and behind the last frame what `alloca` took.
//!
//! Lanes that call together share the place of their frame, which lies beyond the stack pointers of all of them.

use super::block::{Block, Stop};
use super::semantics::{LANES, Width, lanes_of};
use super::warp::Warp;
use crate::program::{MOST_LOCAL, Register};
use crate::report::FaultKind;

/// What frames start at a multiple of.
pub(super) const FRAME_ALIGN: u32 = 16;
/// What PTX guarantees for the addresses that `alloca` gives.
const LEAST_ALIGN: u32 = 8;

/// The first free byte of each lane's local memory.
pub(super) type StackPointers = [u32; LANES];

impl Warp {
    /// Where a frame may start that these lanes share.
    pub(super) fn next_frame(&self, lanes: u32) -> u32 {
        let highest = lanes_of(lanes).map(|lane| self.stack[lane]).max().unwrap_or(0);
        highest.next_multiple_of(FRAME_ALIGN)
    }

    pub(super) fn stack_save(&mut self, active: u32, out: Register, width: Width) {
        for lane in lanes_of(active) {
            self.rows.set_wide(out, width, lane, self.stack[lane].into());
        }
    }
}

impl Block<'_, '_> {
    #[allow(clippy::too_many_arguments, reason = "the place of the instruction and its parts")]
    pub(super) fn alloca(
        &mut self,
        warp: usize,
        pc: u32,
        active: u32,
        out: Register,
        size: Register,
        align: u32,
        width: Width,
    ) -> Result<(), Stop> {
        let warp_state = &mut self.warps[warp];
        let (mut beyond, mut highest) = (0, 0);
        for lane in lanes_of(active) {
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
            return Err(self.fault(FaultKind::StackOverflow, warp, pc, beyond));
        }
        warp_state.grow_local(highest);
        Ok(())
    }

    /// Sets the stack pointers. One that points beyond all local memory was never saved; any other is believed.
    pub(super) fn stack_restore(
        &mut self,
        warp: usize,
        pc: u32,
        active: u32,
        pointer: Register,
        width: Width,
    ) -> Result<(), Stop> {
        let warp_state = &mut self.warps[warp];
        let mut beyond = 0;
        for lane in lanes_of(active) {
            match warp_state.rows.get_wide(pointer, width, lane) {
                value if value <= MOST_LOCAL.into() => warp_state.stack[lane] = value as u32,
                _ => beyond |= 1 << lane,
            }
        }
        if beyond != 0 {
            return Err(self.fault(FaultKind::StackOverflow, warp, pc, beyond));
        }
        Ok(())
    }
}
