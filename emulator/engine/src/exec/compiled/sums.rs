//! Long sums over loaded numbers, which are computed where they are written.
//!
//! The code generator computes a number where it is first used. A sum over many loaded numbers is
//! used after all of them, which would wait for it in registers and then in memory. A number that
//! is stored is computed before.

use crate::program::Kernel;
use crate::program::effects;
use crate::program::instruction::Op;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A loaded number, in parts for the operations that read it.
const WHOLE: u32 = 12;
/// The loaded numbers for which a number waits at most.
const MOST: u32 = 4 * WHOLE;
/// The least number of loads of a block.
const LEAST: usize = 8;

/// Returns the instructions whose results are computed at once. `leads` marks the beginnings of
/// blocks.
pub(super) fn find(kernel: &Kernel, leads: &[bool]) -> HashSet<u32> {
    let mut found = HashSet::new();
    let mut reads: HashMap<u32, u32> = HashMap::new();
    for instruction in &kernel.code {
        effects::reads(instruction, &mut |register| *reads.entry(register.0).or_default() += 1);
    }
    let mut first = 0;
    while first < kernel.code.len() {
        let length = leads[first + 1..kernel.code.len()].iter().position(|leads| *leads);
        let end = length.map_or(kernel.code.len(), |length| first + 1 + length);
        in_block(kernel, &reads, first..end, &mut found);
        first = end;
    }
    found
}

fn in_block(kernel: &Kernel, reads: &HashMap<u32, u32>, block: Range<usize>, found: &mut HashSet<u32>) {
    let is_load = |pc: &usize| matches!(kernel.code[*pc].op, Op::Load(_));
    let Some(last) = block.clone().rfind(is_load) else { return };
    if block.clone().filter(is_load).count() < LEAST {
        return;
    }
    // The loads that each register waits for.
    let mut waiting: HashMap<u32, u32> = HashMap::new();
    for pc in block {
        let instruction = &kernel.code[pc];
        let mut sum: u32 = 0;
        effects::reads(instruction, &mut |register| {
            sum = sum.saturating_add(waiting.get(&register.0).copied().unwrap_or(0));
        });
        let loads = matches!(instruction.op, Op::Load(_));
        let at_once = !loads && sum >= MOST && pc < last && matches!(instruction.op, Op::Pure { .. });
        if at_once {
            found.insert(pc as u32);
        }
        effects::writes(instruction, &mut |register, _| {
            let part = WHOLE / reads.get(&register.0).map_or(1, |reads| (*reads).max(1));
            let number = if loads { part } else { sum };
            waiting.insert(register.0, if at_once { 0 } else { number });
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::exec::compiled::plan::Plan;
    use crate::program::Program;

    /// Returns the number of results that are computed at once, of so many sums of `count` loads.
    fn found(sums: usize, count: usize) -> usize {
        let add = |load: usize| {
            let own = 10 + load;
            let add = |sum: usize| format!("add.rn.f32 %f{sum}, %f{sum}, %f{own};");
            let adds: String = (0..sums).map(add).collect();
            format!("ld.global.f32 %f{own}, [%x+{}]; {adds}", load * 4)
        };
        let body: String = (0..count).map(add).collect();
        let text = format!(
            ".version 8.0 .target sm_90 .address_size 64
            .visible .entry k(.param .u64 out) {{ .reg .b64 %x; .reg .f32 %f<40>;
            ld.param.u64 %x, [out]; {body} st.global.f32 [%x], %f0; ret; }}"
        );
        let program = Program::load(&text, &Default::default()).unwrap();
        Plan::of(&program.kernels()[0], 1).unwrap().sums.len()
    }

    /// A number that is squared again and again waits for each load as often.
    #[test]
    fn powers_of_sums_do_not_overflow() {
        let loads: String =
            (0..8).map(|load| format!("ld.global.f32 %f{load}, [%x+{}];", load * 4)).collect();
        let text = format!(
            ".version 8.0 .target sm_90 .address_size 64
            .visible .entry k(.param .u64 out) {{ .reg .b64 %x; .reg .f32 %f<80>;
            ld.param.u64 %x, [out]; {loads} {} st.global.f32 [%x], %f71; ret; }}",
            (7..71).map(|from| format!("mul.rn.f32 %f{}, %f{from}, %f{from};", from + 1)).collect::<String>()
        );
        let program = Program::load(&text, &Default::default()).unwrap();
        assert!(Plan::of(&program.kernels()[0], 1).unwrap().sums.is_empty());
    }

    #[test]
    fn long_sums_are_computed_at_once_now_and_then() {
        assert_eq!(found(1, 6), 0);
        // After each four loads, of which the first is the parameter, except for the last ones.
        assert_eq!(found(1, 21), 5);
        // Each load is read by two sums, so half as often in each.
        assert_eq!(found(2, 21), 4);
        assert_eq!(found(8, 21), 0);
    }
}
