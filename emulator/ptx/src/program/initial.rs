//! Initial values of variables, which may contain addresses.

use super::symbols::{Input, ModuleSymbol, layout};
use super::types::Type;
use super::{PtxError, PtxErrorKind, Relocation, RelocationTarget};
use crate::ptx::{Initializer, Position, Variable};

pub(super) fn initial_value(
    input: &Input<'_, '_>,
    variable: &Variable<'_>,
) -> Result<(Vec<u8>, Vec<Relocation>), Box<PtxError>> {
    let Some(initializer) = &variable.initializer else { return Ok(Default::default()) };
    let refuse = |message: &str| PtxError::at(variable.position, PtxErrorKind::Unsupported, message);
    let ty = Type::parse(variable.ty).ok_or_else(|| refuse("this type cannot be initialized"))?;
    let mut bytes = Vec::new();
    let mut relocations = Vec::new();
    // Strides of each dimension, so that a nested list shorter than its dimension leaves zeros.
    let mut strides = vec![u64::from(ty.bytes())];
    let mut extents: Vec<u64> = variable.dimensions.iter().rev().filter_map(|dimension| *dimension).collect();
    if variable.vector > 1 {
        extents.insert(0, u64::from(variable.vector));
    }
    for extent in extents {
        let last = strides.last().copied().unwrap_or(1);
        strides.push(last.saturating_mul(extent));
    }
    strides.pop();
    flatten(input, initializer, ty, &strides, variable.position, &mut bytes, &mut relocations)?;
    if let (Some(size), _) = layout(variable)? {
        if bytes.len() as u64 > size {
            return Err(refuse("the initial value is larger than the variable"));
        }
    }
    Ok((bytes, relocations))
}

fn flatten(
    input: &Input<'_, '_>,
    initializer: &Initializer<'_>,
    ty: Type,
    strides: &[u64],
    position: Position,
    bytes: &mut Vec<u8>,
    relocations: &mut Vec<Relocation>,
) -> Result<(), Box<PtxError>> {
    let size = ty.bytes() as usize;
    let refuse = |message: String| PtxError::at(position, PtxErrorKind::Unsupported, message);
    let mut value = |bits: u64| bytes.extend_from_slice(&bits.to_le_bytes()[..size.min(8)]);
    match initializer {
        Initializer::List(items) => {
            let (stride, inner) = strides.split_last().unwrap_or((&1, &[]));
            let start = bytes.len() as u64;
            for (i, item) in items.iter().enumerate() {
                let nested = matches!(item, Initializer::List(_));
                if nested {
                    let at = start + i as u64 * stride;
                    if at > 1 << 32 {
                        return Err(refuse("the initial value is too large".into()));
                    }
                    bytes.resize(at as usize, 0);
                }
                let strides = if nested { inner } else { strides };
                flatten(input, item, ty, strides, position, bytes, relocations)?;
            }
        }
        Initializer::Int(bits) => match ty {
            Type::F32 => value(u64::from((*bits as i64 as f32).to_bits())),
            Type::F64 => value((*bits as i64 as f64).to_bits()),
            _ => value(*bits),
        },
        Initializer::Double(number) => match ty {
            Type::F32 | Type::B32 => value(u64::from((*number as f32).to_bits())),
            Type::F64 | Type::B64 => value(number.to_bits()),
            _ => return Err(refuse("a floating-point initial value for an integer".into())),
        },
        Initializer::Single(bits) => match ty {
            Type::F64 => value(f64::from(f32::from_bits(*bits)).to_bits()),
            _ => value(u64::from(*bits)),
        },
        Initializer::Address { symbol, offset, mask, position: named, generic: _ } => {
            relocations.push(Relocation {
                offset: bytes.len() as u64,
                bytes: size as u32,
                target: target(input, (symbol, *offset), position, *named)?,
                addend: *offset,
                mask: *mask,
            });
            bytes.resize(bytes.len() + size, 0);
        }
    }
    Ok(())
}

/// Returns the target of a symbol's address. Addresses of global memory are already generic.
fn target(
    input: &Input<'_, '_>,
    (symbol, offset): (&str, i64),
    owner: Position,
    position: Position,
) -> Result<RelocationTarget, Box<PtxError>> {
    match input.symbol(symbol, owner) {
        Some(ModuleSymbol::Global(index)) => Ok(RelocationTarget::Global(index as usize)),
        Some(ModuleSymbol::Function(_)) if offset != 0 => {
            let text = format!("`{symbol}` is a function, to whose address nothing is added");
            Err(PtxError::at(position, PtxErrorKind::Syntax, text))
        }
        Some(ModuleSymbol::Function(index)) => Ok(RelocationTarget::Function(index as usize)),
        Some(ModuleSymbol::Shared(_)) => {
            let message = "the address of a shared variable as initial value is not supported";
            Err(PtxError::at(position, PtxErrorKind::Unsupported, message))
        }
        None => {
            let message = format!("`{symbol}` is not declared before this variable");
            Err(PtxError::at(position, PtxErrorKind::Unresolved, message))
        }
    }
}
