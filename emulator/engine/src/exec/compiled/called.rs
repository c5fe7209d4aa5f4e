//! Operations as calls of their functions, and operands as these take them.

use super::backend::{I8, I16, I32, I64, Val};
use super::callees::PURE_COLD;
use super::quads::Focus;
use super::writer::Writer;
use crate::semantics::{PureInfo, Register, Width};

/// Calls the function of an operation, which gives the exact result.
pub(super) fn exact(w: &mut Writer<'_, '_>, info: &'static PureInfo, sources: [Register; 4]) -> Val {
    call(w, info, sources, PURE_COLD)
}

pub(super) fn call(
    w: &mut Writer<'_, '_>,
    info: &'static PureInfo,
    sources: [Register; 4],
    callee: usize,
) -> Val {
    let lanes = w.lanes_of_focus();
    if !lanes.is_empty() {
        let of = |lane| w.with_focus(Focus::Lane(lane), |w| call(w, info, sources, callee));
        let results: Vec<Val> = lanes.map(of).collect();
        return w.join_returned(&results);
    }
    let pointer = w.e.int(I64, std::ptr::from_ref(info).addr() as u64);
    let mut arguments = vec![pointer];
    for (source, width) in sources.iter().zip(info.sources) {
        arguments.push(bits(w, *source, width));
    }
    let result = w.e.call(callee, &arguments);
    if info.out == Width::Double { result } else { w.e.ireduce(I32, result) }
}

/// Returns a register as 64 bits.
pub(super) fn bits(w: &mut Writer<'_, '_>, register: Register, width: Width) -> Val {
    match width {
        Width::None => w.e.int(I64, 0),
        Width::Double => w.get(register, I64),
        Width::Single => {
            let value = w.get(register, I32);
            w.e.uextend(I64, value)
        }
    }
}

/// Returns an integer of this size, extended to 32 bits if it is shorter.
pub(super) fn extended(w: &mut Writer<'_, '_>, value: Val, size: u32, signed: bool) -> Val {
    let ty = match size {
        1 => I8,
        2 => I16,
        _ => return value,
    };
    if w.e.is_vector(value) {
        return w.e.field(value, (0, 8 * size), signed);
    }
    let value = w.e.ireduce(ty, value);
    if signed { w.e.sextend(I32, value) } else { w.e.uextend(I32, value) }
}
