//! The stack pointer of each thread.

use super::warp::Warp;
use crate::semantics::{LANES, Register, Width, lanes_of};

pub(in crate::exec) const FRAME_ALIGN: u32 = 16;
/// The first free byte of each lane's local memory.
pub(in crate::exec) type StackPointers = [u32; LANES];

impl Warp {
    pub(in crate::exec) fn next_frame(&self, lanes: u32) -> u32 {
        let highest = lanes_of(lanes).map(|lane| self.stack[lane]).max().unwrap_or(0);
        highest.next_multiple_of(FRAME_ALIGN)
    }

    pub(in crate::exec) fn stack_save(&mut self, active: u32, out: Register, width: Width) {
        for lane in lanes_of(active) {
            self.rows.set_wide(out, width, lane, self.stack[lane].into());
        }
    }
}
