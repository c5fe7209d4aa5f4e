//! Finds kernels that read uninitialized registers: their results may differ between modes.

use cuprum_ptx::ptx::{Function, Instruction, Module, Operand, Statement};
use std::collections::{HashMap, HashSet};

type Names<'s> = HashSet<&'s str>;

/// The instructions in order, with the labels before them.
#[derive(Default)]
struct Flat<'m, 's> {
    code: Vec<&'m Instruction<'s>>,
    labels: HashMap<&'s str, usize>,
}

impl<'m, 's> Flat<'m, 's> {
    fn add(&mut self, statements: &'m [Statement<'s>]) {
        for statement in statements {
            match statement {
                Statement::Label(_, name) => drop(self.labels.insert(name, self.code.len())),
                Statement::Instruction(instruction) => self.code.push(instruction),
                Statement::Block(inner) => self.add(inner),
                _ => {}
            }
        }
    }

    /// Returns the successors of an instruction; `None` if they cannot be determined.
    fn next(&self, at: usize) -> Option<Vec<usize>> {
        let instruction = self.code[at];
        let mut next = match instruction.opcode {
            "brx" => return None,
            "bra" => match instruction.operands.first() {
                Some(Operand::Name(label)) => vec![*self.labels.get(label)?],
                _ => return None,
            },
            "ret" | "exit" | "trap" => Vec::new(),
            _ => return Some(vec![at + 1]),
        };
        next.extend(instruction.guard.is_some().then_some(at + 1));
        Some(next)
    }
}

fn is_register(name: &str) -> bool {
    name.starts_with('%') && name.ends_with(|c: char| c.is_ascii_digit()) && !name.starts_with("%envreg")
}

fn names<'s>(operand: &Operand<'s>, found: &mut Names<'s>) {
    match operand {
        Operand::Name(name) | Operand::Not(name) | Operand::Minus(name) | Operand::Offset(name, _) => {
            let whole = if name.starts_with('%') { name.split('.').next().unwrap_or(name) } else { name };
            if is_register(whole) {
                found.insert(whole);
            }
        }
        Operand::Pair(first, second) => {
            names(first, found);
            names(second, found);
        }
        Operand::Vector(list) | Operand::List(list) | Operand::Memory(list) => {
            list.iter().for_each(|operand| names(operand, found));
        }
        _ => {}
    }
}

/// Returns the registers that an instruction reads, and those that it always writes.
fn effects<'s>(instruction: &Instruction<'s>) -> (Names<'s>, Names<'s>) {
    let (mut reads, mut writes) = (Names::new(), Names::new());
    let none =
        ["st", "bra", "bar", "barrier", "red", "membar", "fence", "call", "prefetch", "cp", "mbarrier"];
    let writes_first = !none.contains(&instruction.opcode);
    for (index, operand) in instruction.operands.iter().enumerate() {
        let written = index == 0 && writes_first && !matches!(operand, Operand::Memory(_));
        names(operand, if written { &mut writes } else { &mut reads });
    }
    if let Some((guard, _)) = instruction.guard {
        reads.insert(guard);
        reads.extend(writes.drain());
    }
    (reads, writes)
}

/// True if a function writes all registers before it reads them, on every path.
fn function_is_defined(function: &Function<'_>) -> bool {
    let mut flat = Flat::default();
    flat.add(function.body.as_deref().unwrap_or_default());
    let mut known: Vec<Option<Names<'_>>> = vec![None; flat.code.len()];
    let mut open = vec![(0, Names::new())];
    while let Some((at, arriving)) = open.pop() {
        let Some(slot) = known.get_mut(at) else { continue };
        let now: Names<'_> = match slot {
            Some(before) => before.intersection(&arriving).copied().collect(),
            None => arriving,
        };
        if slot.as_ref() == Some(&now) {
            continue;
        }
        *slot = Some(now.clone());
        let (reads, writes) = effects(flat.code[at]);
        if !reads.is_subset(&now) {
            return false;
        }
        let Some(next) = flat.next(at) else { return false };
        let after: Names<'_> = now.union(&writes).copied().collect();
        open.extend(next.into_iter().map(|next| (next, after.clone())));
    }
    true
}

/// True if no function of a module reads an uninitialized register.
pub(crate) fn is_defined(module: &Module<'_>) -> bool {
    module.functions.iter().all(function_is_defined)
}
