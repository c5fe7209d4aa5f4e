//! Lanes of a quad that part: the change to single lanes, and back where they join.

use super::arms::Masks;
use crate::exec::compiled::backend::{Blk, I32, I64, IntCC, Kind, Val};
use crate::exec::compiled::context::Context;
use crate::exec::compiled::plan::NONE;
use crate::exec::compiled::writer::Writer;

impl Writer<'_, '_> {
    /// Goes on with single lanes, before an instruction, up to the place where they join.
    pub(super) fn part(&mut self, pc: u32) {
        let entry = self.plan.entry_of[pc as usize];
        if entry == NONE {
            return self.stop(pc);
        }
        self.count_parting();
        if let Some(masks) = self.arm.clone() {
            return self.part_in_arm(pc, &masks);
        }
        self.plan.stored_at(pc).iter().for_each(|bit| self.store_rows(*bit));
        let left = self.fuel_left();
        let entry = self.e.int(I32, entry.into());
        let Some(join) = self.plan.joins.get(&pc).copied() else {
            let lanes = self.bit();
            return self.run_from(pc, lanes, left);
        };
        self.set_joined(join, 0);
        let lanes = self.bit();
        self.e.call_lanes(&[self.context, lanes, entry]);
        let block = self.join_block(join);
        self.e.jump(block, &[left]);
    }

    /// Goes on with single lanes, before an instruction of an arm: the lanes of its block from
    /// there, and others from the blocks at which they wait, up to the end of the arm, where they
    /// join the rest.
    fn part_in_arm(&mut self, pc: u32, masks: &Masks) {
        let end = masks.end;
        let mut stored = [self.plan.stored_at(pc), self.plan.stored_at(end)].concat();
        masks.waiting.keys().for_each(|start| stored.extend(self.plan.stored_at(*start)));
        stored.sort_unstable();
        stored.dedup();
        // No lane has set the others yet.
        stored.retain(|bit| self.has_value(*bit));
        stored.into_iter().for_each(|bit| self.store_rows(bit));
        let (left, lane, all) = (self.fuel_left(), self.lane, self.bit());
        let mut active = vec![(pc, self.lanes_of(masks.own))];
        for (start, mask) in &masks.waiting {
            active.push((*start, self.bits_of(mask)));
        }
        let mut others = all;
        for (at, lanes) in &mut active {
            *lanes = self.e.ishl(*lanes, lane);
            others = self.e.bxor(others, *lanes);
            *at = self.plan.entry_of[*at as usize];
        }
        let ends = self.plan.entry_of[end as usize] == NONE;
        if !ends {
            self.set_joined(end, 0);
        }
        for (entry, lanes) in active {
            let entry = self.e.int(I32, entry.into());
            if ends {
                // All lanes stop there.
                self.run_apart(lanes, entry);
            } else {
                self.e.call_lanes(&[self.context, lanes, entry]);
            }
        }
        if ends {
            let number = self.e.int(I64, self.plan.stop_of[end as usize].into());
            self.e.jump(self.stopped, &[number, left, others]);
            return;
        }
        let joined = self.e.load(I32, Kind::State, self.context, Context::JOINED);
        let joined = self.e.bor(joined, others);
        self.e.store(Kind::State, joined, self.context, Context::JOINED);
        let block = self.join_block(end);
        self.e.jump(block, &[left]);
    }

    /// Runs lanes one after the other from an instruction on, or stops them before it, and goes on
    /// with the next quad.
    pub(super) fn run_from(&mut self, pc: u32, lanes: Val, left: Val) {
        let entry = self.plan.entry_of[pc as usize];
        if entry == NONE {
            self.mark_apart();
            let number = self.e.int(I64, self.plan.stop_of[pc as usize].into());
            self.e.jump(self.stopped, &[number, left, lanes]);
            return;
        }
        self.write_spent(left);
        let entry = self.e.int(I32, entry.into());
        self.run_apart(lanes, entry);
        let rest = self.rest;
        self.e.jump(self.next_lane, &[rest]);
    }

    fn count_parting(&mut self) {
        let (one, count) = (self.e.int(I64, 1), self.e.load(I64, Kind::State, self.context, Context::PARTED));
        let more = self.e.iadd(count, one);
        self.e.store(Kind::State, more, self.context, Context::PARTED);
    }

    /// Sets the position at which single lanes end their run, and the lanes that did.
    fn set_joined(&mut self, until: u32, joined: u64) {
        let (until, joined) = (self.e.int(I32, until.into()), self.e.int(I32, joined));
        self.e.store(Kind::State, until, self.context, Context::UNTIL);
        self.e.store(Kind::State, joined, self.context, Context::JOINED);
    }

    /// Runs lanes of the quad one after the other, from an entry to their stops.
    fn run_apart(&mut self, lanes: Val, entry: Val) {
        self.mark_apart();
        self.e.call_lanes(&[self.context, lanes, entry]);
    }

    /// Notes that the registers of the lanes may not be regular.
    fn mark_apart(&mut self) {
        let one = self.e.int(I32, 1);
        self.e.store(Kind::State, one, self.context, Context::APART);
    }

    /// Runs all lanes of the quad one after the other, and goes on with the next quad.
    pub(in crate::exec::compiled) fn run_lanes(&mut self, entry: Val) {
        let lanes = self.bit();
        self.run_apart(lanes, entry);
        let rest = self.rest;
        self.e.jump(self.next_lane, &[rest]);
    }

    /// Returns the block in which lanes join at a position, whose parameter is the fuel.
    fn join_block(&mut self, pc: u32) -> Blk {
        if let Some(block) = self.joining.get(&pc) {
            return *block;
        }
        let block = self.e.block();
        self.e.cold(block);
        self.joining.insert(pc, block);
        block
    }

    /// Writes the block in which lanes join at a position, if some have parted so far.
    pub(in crate::exec::compiled) fn join_lanes_at(&mut self, pc: u32) {
        let Some(block) = self.joining.remove(&pc) else { return };
        let left = self.e.param(block, I32);
        self.e.go_on(block);
        let joined = self.e.load(I32, Kind::State, self.context, Context::JOINED);
        self.set_joined(u32::MAX, 0);
        let own = self.bit();
        let all = self.e.icmp(IntCC::Equal, joined, own);
        let (together, apart) = (self.e.block(), self.e.block());
        self.e.cold(apart);
        self.e.branch(all, (together, &[]), (apart, &[]));
        self.e.go_on(apart);
        self.run_from(pc, joined, left);
        self.e.go_on(together);
        self.forget();
        self.set_fuel(left);
        self.enter_quad(pc, false);
        self.jump_to(pc);
    }

    /// Writes the blocks in which lanes join at positions before those where they part.
    pub(in crate::exec::compiled) fn end_joins(&mut self) {
        let mut positions: Vec<u32> = self.joining.keys().copied().collect();
        positions.sort_unstable();
        positions.into_iter().for_each(|pc| self.join_lanes_at(pc));
    }

    /// In code for single lanes, ends the run of a lane that has parted, where it joins the others.
    pub(in crate::exec::compiled) fn end_if_joined(&mut self, pc: u32) {
        if self.quads.is_some() {
            return;
        }
        let until = self.e.load(I32, Kind::State, self.context, Context::UNTIL);
        let own = self.e.int(I32, pc.into());
        let joins = self.e.icmp(IntCC::Equal, until, own);
        let (end, next) = (self.e.block(), self.e.block());
        self.e.branch(joins, (end, &[]), (next, &[]));
        self.e.go_on(end);
        self.plan.stored_at(pc).iter().for_each(|bit| self.store_row(*bit));
        let left = self.fuel_left();
        self.write_spent(left);
        let joined = self.e.load(I32, Kind::State, self.context, Context::JOINED);
        let own = self.bit();
        let joined = self.e.bor(joined, own);
        self.e.store(Kind::State, joined, self.context, Context::JOINED);
        let rest = self.rest;
        self.e.jump(self.next_lane, &[rest]);
        self.e.go_on(next);
    }

    /// Goes on if a condition holds, and otherwise with single lanes before an instruction.
    pub(super) fn part_unless(&mut self, condition: Val, pc: u32) {
        let (good, parted) = (self.e.block(), self.e.block());
        self.e.cold(parted);
        self.e.branch(condition, (good, &[]), (parted, &[]));
        self.e.go_on(parted);
        self.part(pc);
        self.e.go_on(good);
    }
}
