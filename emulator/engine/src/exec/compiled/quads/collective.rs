//! Shuffles and votes of a whole warp that runs together.

use super::crossings::Segments;
use super::focus::Focus;
use super::sizes::QUAD;
use crate::exec::compiled::backend::{I8, I32, I64, IntCC, Kind, Val};
use crate::exec::compiled::context::Context;
use crate::exec::compiled::vectors::vector_of;
use crate::exec::compiled::writer::Writer;
use crate::program::instruction::{Collective, Condition, Instruction, Op};
use crate::semantics::shuffle::{ShuffleMode, shuffle_source};
use crate::semantics::{LANES, Predicate, Register};

/// A shuffle.
struct Shuffle {
    mode: ShuffleMode,
    out: Register,
    inside: Option<Predicate>,
    value: Register,
    lane: Register,
    members: Register,
    known: Segments,
}

impl Writer<'_, '_> {
    /// True if a whole warp performs an instruction at once.
    pub(in crate::exec::compiled) fn crosses(&self, pc: u32) -> bool {
        self.lane_count() == LANES
            && self.plan.crossings.as_ref().is_some_and(|crossings| crossings.contains(pc))
    }

    /// Writes an instruction that a whole warp performs at once.
    pub(in crate::exec::compiled) fn cross(&mut self, pc: u32, instruction: &Instruction) {
        match instruction.op {
            Op::Collective {
                operation: Collective::Shuffle { mode, out, inside, value, lane, .. },
                members,
            } => {
                let crossings = self.plan.crossings.as_ref();
                let Some(known) = crossings.and_then(|found| found.segments(pc)) else { return };
                self.shuffle(&Shuffle { mode, out, inside, value, lane, members, known });
            }
            Op::Collective { operation: Collective::VoteBallot { out, condition }, .. } => {
                let bits = self.lanes_of(condition);
                self.for_first(0, |w| w.set(out, bits));
            }
            Op::Collective { operation: Collective::VoteAll { out, condition }, .. } => {
                let all = self.agree_on(condition, false);
                self.for_first(0, |w| w.set_predicate(out, all));
            }
            Op::Collective { operation: Collective::VoteAny { out, condition }, .. } => {
                let none = self.agree_on(condition, true);
                let any = self.e.not(none);
                self.for_first(0, |w| w.set_predicate(out, any));
            }
            Op::Collective { operation: Collective::VoteUniform { out, condition }, .. } => {
                let (all, none) = (self.agree_on(condition, false), self.agree_on(condition, true));
                let same = self.e.bor(all, none);
                self.for_first(0, |w| w.set_predicate(out, same));
            }
            Op::ActiveMask { out } => {
                let all = self.e.int(I32, self.all_lanes());
                self.for_first(0, |w| w.set(out, all));
            }
            _ => {}
        }
    }

    /// True if a condition holds in all lanes, or in none.
    fn agree_on(&mut self, condition: Condition, none: bool) -> Val {
        let bits = self.lanes_of(condition);
        let expected = self.e.int(I32, if none { 0 } else { self.all_lanes() });
        self.e.icmp(IntCC::Equal, bits, expected)
    }

    fn shuffle(&mut self, shuffle: &Shuffle) {
        let Shuffle { mode, out, inside, value, known, .. } = *shuffle;
        let (operand, values) = (known.operand, self.words_of(value));
        let uniform = known.reads_named(mode) && (operand.is_some() || self.is_uniform(shuffle.lane.0));
        if uniform {
            let one = match operand.map(|lane| lane as usize % LANES) {
                Some(lane) => self.e.lane(values[lane / QUAD], lane % QUAD),
                None => self.one_of(&values, shuffle.lane),
            };
            let always = self.e.int(I8, 1);
            self.for_first(0, |w| {
                w.set(out, one);
                if let Some(inside) = inside {
                    w.set_predicate(inside, always);
                }
            });
            return;
        }
        let (mut results, insides) = self.exchanged(shuffle, &values);
        if !known.named && !self.is_uniform(shuffle.members.0) {
            // Lanes that name other members are not there for each other.
            let members = self.words_of(shuffle.members);
            let (others, _) = self.exchanged(shuffle, &members);
            for (result, (own, other)) in results.iter_mut().zip(members.iter().zip(others)) {
                let alike = self.e.icmp(IntCC::Equal, *own, other);
                *result = self.e.band(*result, alike);
            }
        }
        let mut quads = results.into_iter().zip(insides);
        self.for_each(&self.wholes(), |w| {
            let Some((result, mask)) = quads.next() else { return };
            w.set(out, result);
            if let Some(inside) = inside {
                w.set_predicate(inside, mask);
            }
        });
    }

    /// Returns a register of all lanes as words.
    fn words_of(&mut self, register: Register) -> Vec<Val> {
        let of_quad = |w: &mut Self| {
            let words = w.get(register, I32);
            let words = if w.e.is_vector(words) { words } else { w.e.splat(words) };
            w.e.bitcast(vector_of(I32), words)
        };
        self.wholes().into_iter().map(|quad| self.with_focus(quad, of_quad)).collect()
    }

    /// Returns the words that lanes get, and the lanes that read from their own segment.
    fn exchanged(&mut self, shuffle: &Shuffle, values: &[Val]) -> (Vec<Val>, Vec<Val>) {
        match shuffle.known.operand {
            Some(operand) => self.permuted((shuffle.mode, operand, shuffle.known.clamp), values),
            None => self.gathered(shuffle, values),
        }
    }

    /// Returns the word of the lane that a register of all lanes names.
    fn one_of(&mut self, values: &[Val], lane: Register) -> Val {
        self.store_shuffled(values);
        let lane = self.with_focus(Focus::First, |w| w.get(lane, I32));
        let last = self.e.int(I32, LANES as u64 - 1);
        let lane = self.e.band(lane, last);
        self.load_shuffled(lane)
    }

    /// Returns the words of lanes that are known, and the lanes that read from their own segment.
    fn permuted(
        &mut self,
        (mode, operand, clamp): (ShuffleMode, u32, u32),
        values: &[Val],
    ) -> (Vec<Val>, Vec<Val>) {
        let sources = |quad: usize| -> [(u32, bool); QUAD] {
            std::array::from_fn(|lane| shuffle_source(mode, (quad * QUAD + lane) as u32, operand, clamp))
        };
        let mut results = Vec::new();
        for quad in 0..values.len() {
            let lanes = sources(quad).map(|(source, _)| source as usize);
            let first = lanes[0] / QUAD;
            let second = lanes.iter().map(|lane| lane / QUAD).find(|quad| *quad != first).unwrap_or(first);
            let near = lanes.iter().all(|lane| [first, second].contains(&(lane / QUAD)));
            results.push(if near {
                let places = lanes.map(|lane| lane % QUAD + if lane / QUAD == first { 0 } else { QUAD });
                self.e.words([values[first], values[second]], places)
            } else {
                let words = lanes.map(|lane| self.e.lane(values[lane / QUAD], lane % QUAD));
                self.e.join(&words)
            });
        }
        let mask =
            |w: &mut Self, quad| w.e.four(sources(quad).map(|(_, inside)| if inside { u32::MAX } else { 0 }));
        let insides = (0..values.len()).map(|quad| mask(self, quad)).collect();
        (results, insides)
    }

    /// Returns the words of lanes that registers name, and the lanes that read from their own
    /// segment.
    fn gathered(&mut self, shuffle: &Shuffle, values: &[Val]) -> (Vec<Val>, Vec<Val>) {
        self.store_shuffled(values);
        let (segment, clamp) = (shuffle.known.clamp >> 8 & 31, shuffle.known.clamp & 31);
        let (mut results, mut insides) = (Vec::new(), Vec::new());
        for (quad, focus) in self.wholes().into_iter().enumerate() {
            let numbers: [u32; QUAD] = std::array::from_fn(|lane| (quad * QUAD + lane) as u32);
            let own = self.e.four(numbers);
            let most = self.e.four(numbers.map(|own| own & segment | clamp & !segment));
            let last = self.e.four([31; QUAD]);
            let operand = self.with_focus(focus, |w| w.get(shuffle.lane, I32));
            let operand = self.e.band(operand, last);
            let (source, inside) = match shuffle.mode {
                ShuffleMode::Up => {
                    let source = self.e.isub(own, operand);
                    (source, self.e.icmp(IntCC::SignedGreaterThanOrEqual, source, most))
                }
                ShuffleMode::Down => {
                    let source = self.e.iadd(own, operand);
                    (source, self.e.icmp(IntCC::SignedLessThanOrEqual, source, most))
                }
                ShuffleMode::Butterfly => {
                    let source = self.e.bxor(own, operand);
                    (source, self.e.icmp(IntCC::SignedLessThanOrEqual, source, most))
                }
                ShuffleMode::Index => {
                    let least = self.e.four(numbers.map(|own| own & segment));
                    let free = self.e.four([!segment; QUAD]);
                    let within = self.e.band(operand, free);
                    let source = self.e.bor(least, within);
                    (source, self.e.icmp(IntCC::SignedLessThanOrEqual, source, most))
                }
            };
            let source = self.e.band(source, last);
            let source = self.e.select(inside, source, own);
            let lanes: [Val; QUAD] = std::array::from_fn(|lane| {
                let source = self.e.lane(source, lane);
                self.load_shuffled(source)
            });
            results.push(self.e.join(&lanes));
            insides.push(inside);
        }
        (results, insides)
    }

    fn store_shuffled(&mut self, values: &[Val]) {
        for (quad, value) in values.iter().enumerate() {
            self.e.store(Kind::State, *value, self.context, Context::SHUFFLED + 16 * quad as i32);
        }
    }

    /// Returns the word of a lane, after the words of all were stored.
    fn load_shuffled(&mut self, lane: Val) -> Val {
        let wide = self.e.uextend(I64, lane);
        let two = self.e.int(I64, 2);
        let offset = self.e.ishl(wide, two);
        let at = self.e.iadd(self.context, offset);
        self.e.load(I32, Kind::State, at, Context::SHUFFLED)
    }
}
