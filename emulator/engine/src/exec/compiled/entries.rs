//! The loop over lanes, the entries of machine code, and the common end of all stops.

use super::backend::{Blk, I32, I64, Kind, Val};
use super::context::Context;
use super::support;
use super::writer::Writer;

impl Writer<'_, '_> {
    /// Writes the loop over lanes, the entries, and the common end of all stops.
    pub(super) fn begin(&mut self) {
        let (lanes, entry) = (self.e.params[1], self.e.params[2]);
        let (body, done) = (self.e.block(), self.e.block());
        let left = self.e.param(self.next_lane, I32);
        self.e.jump(self.next_lane, &[lanes]);
        self.e.go_on(self.next_lane);
        self.e.branch(left, (body, &[]), (done, &[]));
        self.e.go_on(done);
        self.e.return_nothing();
        self.e.go_on(body);
        self.lane = self.e.ctz(left);
        let own = self.bit();
        let others = self.e.bnot(own);
        self.rest = self.e.band(left, others);
        self.e.store(Kind::State, self.lane, self.context, Context::LANE);
        let rows = self.e.load(I64, Kind::Constant, self.context, Context::ROWS);
        let wide = self.e.uextend(I64, self.lane);
        for (index, shift) in [2, 3].into_iter().enumerate() {
            let shift = self.e.int(I64, shift);
            let offset = self.e.ishl(wide, shift);
            self.cells[index] = self.e.iadd(rows, offset);
        }
        let fuel = self.e.load(I32, Kind::Constant, self.context, Context::FUEL);
        self.begin_calls();
        let plan = self.plan;
        let code = support::own_code(self.kernel);
        let own = |pc: &u32| self.quads.is_none() || !plan.parts[*pc as usize] && (*pc as usize) < code;
        // Quads have two at each position: the second is for regular registers.
        let kinds: &[bool] = if self.quads.is_some() { &[false, true] } else { &[false] };
        let all = kinds.iter().flat_map(|regular| plan.entries.iter().map(|pc| (*pc, *regular)));
        let entries: Vec<(u32, bool)> = all.collect();
        let never = self.e.block();
        let alone = self.e.block();
        let block = |(pc, _): &(u32, bool)| if own(pc) { self.e.block() } else { alone };
        let blocks: Vec<Blk> = entries.iter().map(block).collect();
        self.e.table(entry, &blocks, never);
        self.e.go_on(never);
        self.e.give_up();
        self.e.go_on(alone);
        self.run_lanes(entry);
        for ((pc, regular), block) in entries.into_iter().zip(blocks).filter(|(_, block)| *block != alone) {
            self.e.go_on(block);
            self.forget();
            self.set_fuel(fuel);
            if self.quads.is_some() {
                self.enter_quad(pc, regular);
            } else {
                plan.live_at(pc).iter().for_each(|bit| self.load_row(*bit));
            }
            self.jump_to(pc);
        }
        self.write_stopped();
        let rest = self.e.param(self.failed, I32);
        self.e.cold(self.failed);
        self.e.go_on(self.failed);
        self.e.jump(self.next_lane, &[rest]);
    }

    fn write_stopped(&mut self) {
        let [number, left, lanes] = [I64, I32, I32].map(|ty| self.e.param(self.stopped, ty));
        self.e.go_on(self.stopped);
        let (first, done) = (self.e.block(), self.e.block());
        let stops = self.e.load(I64, Kind::Constant, self.context, Context::STOPS);
        let two = self.e.int(I64, 2);
        let offset = self.e.ishl(number, two);
        let at = self.e.iadd(stops, offset);
        let old = self.e.load(I32, Kind::State, at, 0);
        let new = self.e.bor(old, lanes);
        self.e.store(Kind::State, new, at, 0);
        self.write_spent(left);
        self.e.branch(old, (done, &[]), (first, &[]));
        self.e.go_on(first);
        let list = self.e.load(I64, Kind::Constant, self.context, Context::LIST);
        let listed = self.e.load(I64, Kind::State, self.context, Context::LISTED);
        let offset = self.e.ishl(listed, two);
        let at = self.e.iadd(list, offset);
        let short = self.e.ireduce(I32, number);
        self.e.store(Kind::State, short, at, 0);
        let one = self.e.int(I64, 1);
        let more = self.e.iadd(listed, one);
        self.e.store(Kind::State, more, self.context, Context::LISTED);
        self.e.jump(done, &[]);
        self.e.go_on(done);
        let rest = self.rest;
        self.e.jump(self.next_lane, &[rest]);
    }

    /// Adds the instructions that the lanes have spent to the total of lanes that ran together, or
    /// of single ones.
    pub(super) fn write_spent(&mut self, left: Val) {
        let fuel = self.e.load(I32, Kind::Constant, self.context, Context::FUEL);
        let used = self.e.isub(fuel, left);
        let used = self.e.sextend(I64, used);
        let lanes = self.e.int(I64, self.lane_count() as u64);
        let used = self.e.imul(used, lanes);
        let total = if self.quads.is_some() { Context::SPENT } else { Context::SINGLE };
        let spent = self.e.load(I64, Kind::State, self.context, total);
        let spent = self.e.iadd(spent, used);
        self.e.store(Kind::State, spent, self.context, total);
    }

    /// Returns the mask of the running lanes.
    pub(super) fn bit(&mut self) -> Val {
        let lanes = self.e.int(I32, self.all_lanes());
        let lane = self.lane;
        self.e.ishl(lanes, lane)
    }
}
