//! The modifiers of an instruction, ticked off as decoders read them.

use super::Decoded;
use crate::program::types::Type;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::Instruction;

pub(super) struct Modifiers<'i, 's> {
    instruction: &'i Instruction<'s>,
    used: u64,
}

impl<'i, 's> Modifiers<'i, 's> {
    pub(super) fn new(instruction: &'i Instruction<'s>) -> Self {
        Modifiers { instruction, used: 0 }
    }

    fn unused(&self) -> impl Iterator<Item = (usize, &'s str)> + use<'i, 's> {
        let used = self.used;
        self.instruction
            .modifiers
            .iter()
            .copied()
            .enumerate()
            .filter(move |(i, _)| *i >= 64 || used >> i & 1 == 0)
    }

    fn tick(&mut self, index: usize) {
        if index < 64 {
            self.used |= 1 << index;
        }
    }

    /// Reads a modifier. Returns true if it is present.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        let found = self.unused().find(|(_, modifier)| *modifier == name);
        if let Some((index, _)) = found {
            self.tick(index);
        }
        found.is_some()
    }

    /// Reads modifiers without an effect here.
    pub(super) fn ignore(&mut self, names: &[&str]) {
        while let Some((index, _)) = self.unused().find(|(_, modifier)| names.contains(modifier)) {
            self.tick(index);
        }
    }

    /// Reads modifiers with a prefix and without an effect here.
    pub(super) fn ignore_prefixed(&mut self, prefixes: &[&str]) {
        while let Some((index, _)) =
            self.unused().find(|(_, modifier)| prefixes.iter().any(|prefix| modifier.starts_with(prefix)))
        {
            self.tick(index);
        }
    }

    /// Reads the first modifier in the table.
    pub(super) fn pick<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        for (index, modifier) in self.unused() {
            for (name, value) in table {
                if *name == modifier {
                    self.tick(index);
                    return Some(*value);
                }
            }
        }
        None
    }

    pub(super) fn next_type(&mut self) -> Option<Type> {
        let (index, ty) =
            self.unused().find_map(|(index, modifier)| Some((index, Type::parse(modifier)?)))?;
        self.tick(index);
        Some(ty)
    }

    /// Reads the type. Fails if there is none.
    pub(super) fn ty(&mut self) -> Decoded<Type> {
        self.next_type().ok_or_else(|| self.unsupported("the instruction without a type"))
    }

    /// Fails if a modifier was not read.
    pub(super) fn finish(&self) -> Decoded<()> {
        match self.unused().next() {
            None => Ok(()),
            Some((_, modifier)) => Err(self.unsupported(&format!("`.{modifier}`"))),
        }
    }

    /// Returns the instruction as `opcode.modifier.modifier`.
    pub(super) fn spelling(&self) -> String {
        let mut spelling = self.instruction.opcode.to_owned();
        for modifier in &self.instruction.modifiers {
            spelling.push('.');
            spelling.push_str(modifier);
        }
        spelling
    }

    /// Returns advice for an instruction of only few devices.
    fn advice(&self) -> &'static str {
        let opcode = self.instruction.opcode;
        let tensor = self.instruction.modifiers.iter().any(|modifier| modifier.starts_with("tensor"));
        if tensor || ["wgmma", "tcgen05", "tensormap", "multimem"].contains(&opcode) {
            "; CUPRUM_EMULATOR_COMPUTE_CAPABILITY=8.9 makes most compilers avoid it"
        } else {
            ""
        }
    }

    /// Returns the error for an instruction that does not exist in this form.
    pub(super) fn unknown(&self) -> Box<PtxError> {
        self.unsupported("this instruction or type")
    }

    pub(super) fn for_target(&self, target: &str) -> Box<PtxError> {
        PtxError::at(
            self.instruction.position,
            PtxErrorKind::Unsupported,
            format!("`{}` is an instruction of `.target {target}`", self.spelling()),
        )
    }

    pub(super) fn unsupported(&self, what: &str) -> Box<PtxError> {
        PtxError::at(
            self.instruction.position,
            PtxErrorKind::Unsupported,
            format!(
                "`{}` is not supported by the software device: {what} is unknown to it here{}",
                self.spelling(),
                self.advice()
            ),
        )
    }
}
