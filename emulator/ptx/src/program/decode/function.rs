//! Device functions that a kernel may call. Each is decoded once per kernel.

use super::form::{Form, Role};
use super::parameters::check_passed;
use super::unit::{Spilled, Unit};
use super::{Decoded, Decoder, Symbol, rows_of};
use crate::program::instruction::Op;
use crate::program::memory::{Access, Address, Order};
use crate::program::symbols::{self, Definition, Purpose, layout};
use crate::program::types::Type;
use crate::program::{Function, PtxError, PtxErrorKind};
use crate::ptx::{self, Space, Statement, Variable};
use crate::semantics::{Register, Width};
use std::collections::{HashMap, HashSet};

impl<'m, 's> Decoder<'_, 'm, 's> {
    pub(super) fn unit(&mut self, index: usize) -> Decoded<()> {
        let unit = &self.units[index];
        let module_index = unit.module_index;
        // An input of a link may call functions of others.
        let Some(Definition { tree, input }) = self.context.functions[module_index as usize].definition
        else {
            return Ok(());
        };
        self.input = &self.context.inputs[input];
        let mut scope = HashMap::new();
        for (variables, rows, role) in
            [(&tree.params, &unit.params, Role::Taken), (&tree.returns, &unit.returns, Role::Given)]
        {
            for (variable, (first, words)) in variables.iter().zip(rows) {
                if variable.space == Space::Register {
                    continue;
                }
                let (first, words, form) = (*first, *words, Form::of(variable)?);
                scope.insert(variable.name, Symbol::ParamRows { first, words, form, role, local: None });
            }
        }
        let named = addresses_named(tree);
        let mut taken = Vec::new();
        for (variables, rows, is_result) in
            [(&tree.params, &unit.params, false), (&tree.returns, &unit.returns, true)]
        {
            for (variable, (first, words)) in variables.iter().zip(rows) {
                if variable.space != Space::Register && named.contains(variable.name) {
                    let (_, align) = layout(variable)?;
                    let (first, words, form) = (*first, *words, Form::of(variable)?);
                    taken.push(Spilled { name: variable.name, first, words, form, align, is_result });
                }
            }
        }
        let entry = self.code.len() as u32;
        let (first_row, first_predicate) = (self.rows(), self.predicates.get());
        self.in_kernel = false;
        self.body(tree, scope, &taken)?;
        let (rows, predicates, frame) = (self.rows(), self.predicates.get(), self.frame);
        let function = &mut self.units[index].function;
        function.entry = entry;
        function.rows.push(first_row..rows);
        function.predicates = first_predicate..predicates;
        function.frame = frame.next_multiple_of(16);
        Ok(())
    }

    /// Returns a device function's index in this kernel. Queues it for decoding on first use.
    pub(super) fn function(&mut self, module_index: u32) -> Decoded<u32> {
        if let Some(index) = self.by_module_index.get(&module_index) {
            return Ok(*index);
        }
        let symbols::Function { tree, definition, is_extern } = self.context.functions[module_index as usize];
        let (params, returns) = match definition {
            Some(Definition { tree, input }) => {
                let module = self.context.inputs[input].module;
                (self.param_rows(module, &tree.params)?, self.param_rows(module, &tree.returns)?)
            }
            None if is_extern && self.context.purpose == Purpose::Input => Default::default(),
            None => {
                return Err(PtxError::at(
                    self.position,
                    PtxErrorKind::Unresolved,
                    format!("the function `{}` is declared and never defined", tree.name),
                ));
            }
        };
        let words = |list: &[(Register, u32)]| {
            let mut all = Vec::new();
            for (first, words) in list {
                all.extend((0..*words).map(|word| Register(first.0 + word)));
            }
            all
        };
        let function = Function {
            entry: 0,
            rows: params.iter().chain(&returns).map(|(first, words)| first.0..first.0 + words).collect(),
            predicates: 0..0,
            params: words(&params),
            returns: words(&returns),
            frame: 0,
        };
        self.units.push(Unit { module_index, params, returns, function });
        let index = self.units.len() as u32 - 1;
        self.by_module_index.insert(module_index, index);
        Ok(index)
    }

    pub(super) fn param_rows(
        &mut self,
        module: &ptx::Module<'s>,
        variables: &[Variable<'s>],
    ) -> Decoded<Vec<(Register, u32)>> {
        let mut rows = Vec::new();
        for variable in variables {
            check_passed(module, variable)?;
            let words = self.words_of(variable)?;
            rows.push((self.allocate_rows(words, Width::Single), words));
        }
        Ok(rows)
    }

    pub(super) fn words_of(&self, variable: &Variable<'s>) -> Decoded<u32> {
        if variable.space == Space::Register {
            let ty = Type::parse(variable.ty);
            return Ok(ty.map_or(1, rows_of) * variable.vector);
        }
        let (bytes, _) = layout(variable)?;
        match bytes {
            Some(bytes) if bytes <= 4096 => Ok((bytes as u32).div_ceil(4)),
            _ => Err(PtxError::at(
                variable.position,
                PtxErrorKind::Unsupported,
                format!("`{}` is no parameter of up to 4096 bytes", variable.name),
            )),
        }
    }

    /// Gives a parameter or result a place in the frame, which is its address. A parameter is
    /// copied there, a result from there before the function returns.
    pub(super) fn spill(&mut self, param: &Spilled<'s>) {
        let offset = u64::from(self.frame).next_multiple_of(param.align.max(4)) as u32;
        self.frame = offset + 4 * param.words;
        let Spilled { name, first, words, form, is_result, .. } = *param;
        if let Some(scope) = self.scopes.last_mut() {
            let role = if is_result { Role::Given } else { Role::Taken };
            scope.insert(name, Symbol::ParamRows { first, words, form, role, local: Some(offset) });
        }
        for word in 0..words {
            let (row, at) = (Register(first.0 + word), offset + 4 * word);
            if is_result {
                self.framed_results.push((row, at));
            } else {
                self.frame_word(row, at, false);
            }
        }
    }

    /// Copies a word between a row and the frame.
    pub(super) fn frame_word(&mut self, row: Register, offset: u32, load: bool) {
        let base = self.temporary(Width::Double);
        self.emit(Op::LocalAddress { out: base, offset, width: Width::Double });
        let access = Box::new(Access {
            space: Some(Space::Local),
            address: Address { base, width: Width::Double, offset: 0 },
            bytes: 4,
            signed: false,
            width: Width::Single,
            registers: vec![row],
            cache: self.new_cache(),
            order: Order::Weak,
            polls: false,
        });
        self.emit(if load { Op::Load(access) } else { Op::Store(access) });
    }
}

/// Returns the names whose address an instruction may take.
fn addresses_named<'s>(function: &ptx::Function<'s>) -> HashSet<&'s str> {
    let instructions = function.statements().filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        _ => None,
    });
    let taking = instructions.filter(|instruction| matches!(instruction.opcode, "mov" | "cvta"));
    let operands = taking.flat_map(|instruction| &instruction.operands);
    operands
        .filter_map(|operand| match operand {
            ptx::Operand::Name(name) | ptx::Operand::Offset(name, _) => Some(*name),
            _ => None,
        })
        .collect()
}
