//! Decodes a kernel: its parameters, the launches that it allows, its code, and its shared memory.

use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::Constant;
use crate::program::slot::Slot;
use crate::program::symbols::{Context, Definition, Purpose, layout};
use crate::program::{ClusterBounds, Kernel, Param, PtxError, PtxErrorKind, flow, sort_constants};
use crate::ptx::{self, Space, Variable};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

pub(in crate::program) fn decode_kernel<'m, 's>(
    context: &Context<'m, 's>,
    Definition { tree, input }: Definition<'m, 's>,
) -> Decoded<Kernel> {
    context.count(context.shared.len(), tree.position)?;
    Decoder::new(context, input, tree.position).kernel(tree)
}

/// Decodes a device function alone, without the functions that it calls, to find its errors.
pub(in crate::program) fn decode_function<'m, 's>(
    context: &Context<'m, 's>,
    Definition { tree, input }: Definition<'m, 's>,
    module_index: u32,
) -> Decoded<()> {
    let mut decoder = Decoder::new(context, input, tree.position);
    match decoder.function(module_index) {
        Ok(unit) => decoder.unit(unit as usize),
        // The assembler leaves it out of a whole program before it looks at the calling convention.
        Err(_) if context.purpose == Purpose::Whole => Ok(()),
        Err(error) => Err(error),
    }
}

impl<'m, 's> Decoder<'_, 'm, 's> {
    fn kernel(&mut self, tree: &'m ptx::Function<'s>) -> Decoded<Kernel> {
        let mut params = Vec::new();
        let mut scope = HashMap::new();
        let mut end = 0u32;
        for variable in &tree.params {
            let param = kernel_param(variable, end)?;
            end = param.offset + param.size;
            scope.insert(variable.name, Symbol::KernelParam { offset: param.offset });
            params.push(param);
        }
        let bounds = self.launch_bounds(tree)?;
        self.body(tree, scope, &[])?;
        let frame = self.frame;
        let mut next = 0;
        while next < self.units.len() {
            self.unit(next)?;
            next += 1;
        }
        let (shared_offsets, static_shared) = self.place_shared()?;
        let ranks = flow::ranks(&self.code, self.units.iter().map(|unit| unit.function.entry));
        let mut constants: Vec<_> =
            self.constants.drain().map(|((width, constant), register)| (register, width, constant)).collect();
        sort_constants(&mut constants);
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Ok(Kernel {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name: tree.name.to_owned(),
            params,
            static_shared,
            max_threads: bounds.most,
            required_threads: bounds.required,
            cluster: bounds.cluster,
            code: std::mem::take(&mut self.code),
            origins: std::mem::take(&mut self.origins),
            files: self.context.files.clone(),
            ranks,
            functions: self.units.drain(..).map(|unit| unit.function).collect(),
            by_module_index: std::mem::take(&mut self.by_module_index),
            system_calls: std::mem::take(&mut self.system_calls),
            constants,
            rows: self.rows(),
            row_kinds: self.row_kinds.take(),
            predicates: self.predicates.get(),
            caches: self.caches,
            shared_offsets,
            frame,
            unwritten: std::sync::OnceLock::new(),
            runner: Slot::default(),
            machine_code: Slot::default(),
            independent_lanes: false,
            changes_global: false,
            may_wait: false,
            reads_constants: false,
        })
    }

    /// Returns the offsets of the shared variables, and the total size of those with a fixed size.
    fn place_shared(&self) -> Decoded<(Vec<u32>, u32)> {
        let mut used = vec![false; self.shared.len()];
        for (_, constant) in self.constants.keys() {
            if let Constant::Shared { index, .. } = constant {
                used[*index as usize] = true;
            }
        }
        let mut offsets = vec![0; self.shared.len()];
        let mut end = 0u64;
        for (index, variable) in self.shared.iter().enumerate() {
            if let (Some(bytes), true) = (variable.bytes, used[index]) {
                end = end.next_multiple_of(variable.align.into());
                offsets[index] = end as u32;
                end += u64::from(bytes);
            }
        }
        if end > 1 << 20 {
            return Err(self.unsupported("more shared memory than any block has"));
        }
        let end = end as u32;
        for (index, variable) in self.shared.iter().enumerate() {
            if variable.bytes.is_none() {
                offsets[index] = end.next_multiple_of(variable.align.max(16));
            }
        }
        Ok((offsets, end))
    }

    fn launch_bounds(&self, tree: &ptx::Function<'_>) -> Decoded<LaunchBounds> {
        let mut bounds = LaunchBounds::default();
        for (name, values) in &tree.directives {
            let product = values.iter().fold(1u64, |product, value| product.saturating_mul(*value));
            let product = u32::try_from(product).unwrap_or(u32::MAX);
            match *name {
                "maxntid" => bounds.most = Some(product),
                "reqntid" => {
                    bounds.most = Some(product);
                    bounds.required = Some(sides(values));
                }
                "explicitcluster" => bounds.cluster.explicit = true,
                // Zeros leave it to the launch.
                "reqnctapercluster" if product == 0 => {}
                "reqnctapercluster" => bounds.cluster.required = Some(sides(values)),
                "maxclusterrank" => bounds.cluster.most = Some(product),
                // Hints about registers and residency.
                "minnctapersm" | "maxnctapersm" | "maxnreg" => {}
                other => {
                    return Err(PtxError::at(
                        tree.position,
                        PtxErrorKind::Unsupported,
                        format!("`.{other}` is not supported by the software device"),
                    ));
                }
            }
        }
        Ok(bounds)
    }
}

#[derive(Default)]
struct LaunchBounds {
    most: Option<u32>,
    required: Option<[u32; 3]>,
    cluster: ClusterBounds,
}

/// Returns up to three sides; missing ones are one.
fn sides(values: &[u64]) -> [u32; 3] {
    let mut sides = [1; 3];
    for (side, value) in sides.iter_mut().zip(values) {
        *side = u32::try_from(*value).unwrap_or(u32::MAX);
    }
    sides
}

fn kernel_param(variable: &Variable<'_>, end: u32) -> Decoded<Param> {
    if variable.space != Space::Param {
        let message = format!("the parameter `{}` of a kernel must be in `.param`", variable.name);
        return Err(PtxError::at(variable.position, PtxErrorKind::Syntax, message));
    }
    let (bytes, align) = layout(variable)?;
    let place = bytes.and_then(|bytes| {
        let offset = u64::from(end).next_multiple_of(align);
        (offset + bytes <= 32_764).then_some((offset as u32, bytes as u32))
    });
    let Some((offset, size)) = place else {
        return Err(PtxError::at(
            variable.position,
            PtxErrorKind::Unsupported,
            format!("the parameter `{}` goes beyond the 32764 bytes that a kernel may have", variable.name),
        ));
    };
    Ok(Param { offset, size, align: align as u32 })
}
