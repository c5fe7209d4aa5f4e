//! Refuses forms that the text's `.version` or `.target` lacks, as a driver does, although the
//! device could run them.

use super::{Decoded, Decoder};
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::{Instruction, Operand};

impl Decoder<'_, '_, '_> {
    /// Refuses an instruction that the version or the target of its text does not have.
    pub(super) fn refuse_newer(&self, instruction: &Instruction<'_>) -> Decoded<()> {
        let newer = &self.input.newer;
        let named = instruction.operands.iter().filter_map(|operand| match operand {
            Operand::Name(name) => newer.special(name).filter(|_| self.lookup(name).is_none()),
            _ => None,
        });
        let (mut version, mut target) = ((0, 0), 0);
        for since in newer.forms(instruction.opcode, &instruction.modifiers).chain(named) {
            version = version.max(since.0);
            target = target.max(since.1);
        }
        if (version, target) == ((0, 0), 0) {
            return Ok(());
        }
        let spelling = [&[instruction.opcode], &instruction.modifiers[..]].concat().join(".");
        let mut needs = Vec::new();
        if version > self.input.module.version {
            needs.push(format!("`.version {}.{}`", version.0, version.1));
        }
        if target > self.input.features.number {
            needs.push(format!("`.target sm_{target}`"));
        }
        let message = format!("`{spelling}` as written here needs {}", needs.join(" and "));
        Err(PtxError::at(self.position, PtxErrorKind::Syntax, message))
    }
}

#[cfg(test)]
mod tests {
    use crate::program::{LoadOptions, Program};

    fn load(version: &str, target: &str, body: &str) -> Result<(), String> {
        let registers = ".reg .pred %p; .reg .b16 %h; .reg .b32 %r, %clusterid; .reg .b64 %x;";
        let text = format!(
            ".version {version} .target {target} .address_size 64
            .entry f() {{ {registers} {body} }}"
        );
        Program::load(&text, &LoadOptions::default()).map(drop).map_err(|error| error.message)
    }

    #[test]
    fn an_instruction_needs_the_version_and_the_target_that_have_it() {
        for (version, target, body, needs) in [
            ("7.0", "sm_75", "redux.sync.add.u32 %r, %r, -1;", "needs `.target sm_80`"),
            ("6.5", "sm_70", "cp.async.wait_all;", "needs `.version 7.0` and `.target sm_80`"),
            (
                "8.0",
                "sm_90",
                "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r], %r, [%r];",
                "8.1",
            ),
            ("7.1", "sm_80", "cvt.rn.bf16.s32 %h, %r;", "needs `.version 7.8` and `.target sm_90`"),
            ("7.1", "sm_80", "mov.u32 %r, %nclusterid.x;", "needs `.version 7.8` and `.target sm_90`"),
        ] {
            let refused = load(version, target, body).unwrap_err();
            assert!(refused.contains(needs), "{refused}");
        }
    }

    #[test]
    fn an_instruction_that_version_and_target_have_loads() {
        for (version, target, body) in [
            ("7.0", "sm_80", "redux.sync.add.u32 %r, %r, -1; cp.async.wait_all;"),
            ("7.8", "sm_90", "cvt.rn.bf16.s32 %h, %r; mov.u32 %r, %nclusterid.x;"),
            ("7.0", "sm_80", "cvt.rn.bf16.f32 %h, %r;"),
            ("7.0", "sm_80", "mov.u32 %r, %clusterid;"),
        ] {
            assert_eq!(load(version, target, body), Ok(()), "{body}");
        }
    }
}
