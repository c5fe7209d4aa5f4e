//! Video instructions.

use super::modifiers::Modifiers;
use super::{Decoded, Decoder};
use crate::program::instruction::Op;
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::video::{
    Finish, Limit, MultiplyAdd, Operation, Parallel, Picks, Piece, Scalar, Source, Video, average,
    shift_left, shift_right,
};
use crate::semantics::{Register, Width};

const COMPARISONS: [(&str, Operation); 6] = [
    ("eq", |a, b| (a == b).into()),
    ("ne", |a, b| (a != b).into()),
    ("lt", |a, b| (a < b).into()),
    ("le", |a, b| (a <= b).into()),
    ("gt", |a, b| (a > b).into()),
    ("ge", |a, b| (a >= b).into()),
];

/// Returns an operation that exists for one part, for halves and for bytes.
fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        "vadd" => |a, b| a + b,
        "vsub" => |a, b| a - b,
        "vabsdiff" => |a, b| (a - b).abs(),
        "vmin" => |a, b| a.min(b),
        "vmax" => |a, b| a.max(b),
        _ => return None,
    })
}

fn selected(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('.') {
        Some((register, selector)) => (register, Some(selector)),
        None => (name, None),
    }
}

fn part(selector: Option<&str>) -> Option<Piece> {
    Some(match selector {
        None => Piece::WORD,
        Some("b0") => Piece { bits: 8, start: 0 },
        Some("b1") => Piece { bits: 8, start: 8 },
        Some("b2") => Piece { bits: 8, start: 16 },
        Some("b3") => Piece { bits: 8, start: 24 },
        Some("h0") => Piece { bits: 16, start: 0 },
        Some("h1") => Piece { bits: 16, start: 16 },
        Some(_) => return None,
    })
}

/// Returns the digits of a selector such as `.b3210`, the lowest part first.
fn digits(selector: &str, letter: char, most: u8) -> Option<Vec<u8>> {
    let mut digits = Vec::new();
    for digit in selector.strip_prefix(letter)?.bytes().rev() {
        digits.push(digit.checked_sub(b'0').filter(|digit| *digit < most)?);
    }
    Some(digits)
}

impl<'s> Decoder<'_, '_, 's> {
    /// Returns the types of result and sources; comparisons have none for the result.
    fn video_types(&self, m: &mut Modifiers<'_, 's>, compares: bool) -> Decoded<[bool; 3]> {
        let mut signed = [false; 3];
        for slot in &mut signed[usize::from(compares)..] {
            *slot = match m.ty()? {
                Type::U32 => false,
                Type::S32 => true,
                _ => return Err(m.unknown()),
            };
        }
        Ok(signed)
    }

    fn video_source(&mut self, operand: &Operand<'s>, signed: bool) -> Decoded<(Register, Source)> {
        let (name, negated) = match operand {
            Operand::Name(name) => (*name, false),
            Operand::Minus(name) => (*name, true),
            _ => {
                let register = self.source(operand, Type::B32, Width::Single)?;
                return Ok((register, Source { part: Piece::WORD, signed, negated: false }));
            }
        };
        let (register, selector) = selected(name);
        let part = part(selector).ok_or_else(|| self.unsupported(format!("the part `{name}`")))?;
        let register = self.source(&Operand::Name(register), Type::B32, Width::Single)?;
        Ok((register, Source { part, signed, negated }))
    }

    fn emit_video(
        &mut self,
        video: Video,
        to: &Operand<'s>,
        signed: bool,
        sources: [Register; 3],
    ) -> Decoded<()> {
        let out = self.destination(to, Width::Single, signed)?;
        self.emit(Op::Video { video: Box::new(video), out: out.row, sources });
        self.finish(out);
        Ok(())
    }

    pub(super) fn video_scalar(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let [signed, signed_a, signed_b] = self.video_types(m, i.opcode == "vset")?;
        let wrap = m.pick(&[("wrap", true), ("clamp", false)]);
        let operation: Operation = match (i.opcode, wrap) {
            ("vset", None) => match m.pick(&COMPARISONS) {
                Some(operation) => operation,
                None => return Err(m.unknown()),
            },
            ("vshl", Some(true)) => shift_left::<true>,
            ("vshl", Some(false)) => shift_left::<false>,
            ("vshr", Some(true)) => shift_right::<true>,
            ("vshr", Some(false)) => shift_right::<false>,
            (opcode, None) => match operation(opcode) {
                Some(operation) => operation,
                None => return Err(m.unknown()),
            },
            _ => return Err(m.unknown()),
        };
        if wrap.is_some() && signed_b {
            return Err(m.unknown());
        }
        let limit = match i.opcode {
            "vset" => Limit::None,
            _ if !m.flag("sat") => Limit::None,
            "vshl" | "vshr" => Limit::Shifted,
            _ => Limit::Result,
        };
        let second = m.pick(&[("add", Finish::Add), ("min", Finish::Min), ("max", Finish::Max)]);
        let Operand::Name(to) = self.operand(i, 0)? else { return Err(m.unknown()) };
        let (to, selector) = selected(to);
        let finish = match (second, selector) {
            (Some(finish), None) => finish,
            (None, None) => Finish::Alone,
            (None, selector) => match part(selector) {
                Some(part) => Finish::Insert(part),
                None => return Err(m.unknown()),
            },
            _ => return Err(m.unknown()),
        };
        let (register_a, a) = self.video_source(self.operand(i, 1)?, signed_a)?;
        let (register_b, b) = self.video_source(self.operand(i, 2)?, signed_b)?;
        if a.negated || b.negated {
            return Err(m.unknown());
        }
        let register_c = match finish {
            Finish::Alone => register_a,
            _ => self.source(self.operand(i, 3)?, Type::B32, Width::Single)?,
        };
        self.operand_count(i, if finish == Finish::Alone { 3 } else { 4 })?;
        let video = Video::Scalar(Scalar { operation, a, b, signed, limit, finish });
        self.emit_video(video, &Operand::Name(to), signed, [register_a, register_b, register_c])
    }

    pub(super) fn video_multiply(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let [signed, signed_a, signed_b] = self.video_types(m, false)?;
        let plus_one = m.flag("po");
        let saturate = m.flag("sat");
        let shift = m.pick(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0);
        self.operand_count(i, 4)?;
        let (register_a, a) = self.video_source(self.operand(i, 1)?, signed_a)?;
        let (register_b, b) = self.video_source(self.operand(i, 2)?, signed_b)?;
        let (register_c, c) = self.video_source(self.operand(i, 3)?, signed)?;
        if c.part != Piece::WORD {
            return Err(m.unknown());
        }
        let video = MultiplyAdd { a, b, negate_third: c.negated, plus_one, shift, saturate };
        self.emit_video(
            Video::MultiplyAdd(video),
            self.operand(i, 0)?,
            signed,
            [register_a, register_b, register_c],
        )
    }

    pub(super) fn video_parallel(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let (name, count) = i.opcode.split_at(i.opcode.len() - 1);
        let (letter, parts): (char, u8) = if count == "4" { ('b', 4) } else { ('h', 2) };
        let [signed, signed_a, signed_b] = self.video_types(m, name == "vset")?;
        let operation: Operation = match name {
            "vset" => match m.pick(&COMPARISONS) {
                Some(operation) => operation,
                None => return Err(m.unknown()),
            },
            "vavrg" => average,
            _ => match operation(name) {
                Some(operation) => operation,
                None => return Err(m.unknown()),
            },
        };
        let saturate = name != "vset" && m.flag("sat");
        let accumulate = m.flag("add");
        self.operand_count(i, 4)?;
        let Operand::Name(to) = self.operand(i, 0)? else { return Err(m.unknown()) };
        let (to, selector) = selected(to);
        let mask = match selector {
            None => 0xf,
            Some(selector) => match digits(selector, letter, parts) {
                Some(digits) => digits.into_iter().fold(0, |mask, digit| mask | 1 << digit),
                None => return Err(m.unknown()),
            },
        };
        let mut registers = [Register::default(); 3];
        let mut picks = [signed_a, signed_b].map(|signed| Picks { from: [0, 1, 2, 3], signed });
        picks[1].from = picks[1].from.map(|from| from + parts);
        for (index, picks) in picks.iter_mut().enumerate() {
            let operand = self.operand(i, index + 1)?;
            let (operand, selector) = match operand {
                Operand::Name(name) => {
                    let (register, selector) = selected(name);
                    (&Operand::Name(register), selector)
                }
                _ => (operand, None),
            };
            registers[index] = self.source(operand, Type::B32, Width::Single)?;
            if let Some(selector) = selector {
                let Some(digits) =
                    digits(selector, letter, 2 * parts).filter(|digits| digits.len() == usize::from(parts))
                else {
                    return Err(m.unknown());
                };
                picks.from[..digits.len()].copy_from_slice(&digits);
            }
        }
        registers[2] = self.source(self.operand(i, 3)?, Type::B32, Width::Single)?;
        let [a, b] = picks;
        let bits = 32 / u32::from(parts);
        let video = Parallel { operation, bits, a, b, signed, saturate, mask, accumulate };
        self.emit_video(Video::Parallel(video), &Operand::Name(to), signed, registers)
    }
}
