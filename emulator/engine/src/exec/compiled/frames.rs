//! The frames of lanes that stop in a function which machine code has called.

use super::calls::{CallSite, Header, SLOT};
use super::code::Code;
use crate::exec::block::Block;
use crate::exec::block::cached::InCall;
use crate::exec::block::warp::{DivergentPath, Frame, Wait, Warp};
use crate::program::{Kernel, RowKind};
use crate::semantics::{Predicate, Register, Width};
use std::sync::Arc;

/// A lane, its calls, and the registers of its stop.
struct Lane<'a> {
    at: InCall,
    calls: Vec<Record<'a>>,
    registers: &'a [u64],
}

/// One call of a lane: its header and its saved registers.
struct Record<'a> {
    header: Header,
    saved: &'a [u64],
}

/// Removes the lanes that have stopped in functions, and returns their divergent paths. Lanes with
/// the same calls at the same stop stay together.
pub(super) fn take(
    block: &mut Block<'_, '_>,
    code: &Code,
    warp: usize,
    frame: Option<&Arc<Frame>>,
) -> Vec<DivergentPath> {
    let stopped = std::mem::take(&mut block.machine.in_calls);
    let words = std::mem::take(&mut block.machine.kept);
    let kernel = block.launch.args.kernel;
    let warp = &mut block.warps[warp];
    let lane = |at: InCall| {
        let calls = records(&words[at.first..at.registers], &code.sites);
        Lane { at, calls, registers: &words[at.registers..] }
    };
    let mut rest: Vec<Lane<'_>> = stopped.into_iter().map(lane).collect();
    let mut paths = Vec::new();
    while !rest.is_empty() {
        let (group, others) =
            rest.into_iter().fold((Vec::new(), Vec::new()), |(mut group, mut others), lane| {
                let list = if group.first().is_none_or(|first| same_calls(first, &lane)) {
                    &mut group
                } else {
                    &mut others
                };
                list.push(lane);
                (group, others)
            });
        rest = others;
        let pc = code.stops[group[0].at.stop as usize];
        let mask = group.iter().fold(0, |mask, lane| mask | 1 << lane.at.lane);
        let frame = build(warp, kernel, code, &group, frame.cloned());
        let tired = code.entry(pc).is_some();
        paths.push(DivergentPath { pc, mask, frame, wait: Wait::Ready, tired });
    }
    paths
}

/// Returns the records of a lane, the outermost call first.
fn records<'a>(mut words: &'a [u64], sites: &[CallSite]) -> Vec<Record<'a>> {
    let mut records = Vec::new();
    while let [.., first, second] = *words {
        let half = |word: u64| (word as u32, (word >> 32) as u32);
        let ((site, function), (callers_base, callers_stack)) = (half(first), half(second));
        let start = words.len().saturating_sub(sites[site as usize].bytes() / SLOT);
        let saved = &words[start..words.len() - 2];
        records.push(Record { header: Header { site, function, callers_base, callers_stack }, saved });
        words = &words[..start];
    }
    records.reverse();
    records
}

/// True if two lanes are at the same stop of the same calls, with frames at the same addresses.
fn same_calls(one: &Lane<'_>, other: &Lane<'_>) -> bool {
    let key = |lane: &Lane<'_>| (lane.at.stop, lane.at.local_base, lane.calls.len());
    let call = |record: &Record<'_>| (record.header.site, record.header.function, record.header.callers_base);
    key(one) == key(other) && one.calls.iter().map(call).eq(other.calls.iter().map(call))
}

/// Makes the calls of these lanes anew, as the plain mode makes them. Returns the innermost frame.
fn build(
    warp: &mut Warp,
    kernel: &Kernel,
    code: &Code,
    group: &[Lane<'_>],
    mut frame: Option<Arc<Frame>>,
) -> Option<Arc<Frame>> {
    let first = &group[0];
    for (index, call) in first.calls.iter().enumerate() {
        let Header { site, function, .. } = call.header;
        let CallSite { pc, saved: bits } = &code.sites[site as usize];
        let mut callers_stack = warp.stack;
        for lane in group {
            let Record { header, saved } = &lane.calls[index];
            callers_stack[lane.at.lane as usize] = header.callers_stack;
            write(warp, kernel, lane.at.lane, (bits, saved));
        }
        let next = first.calls.get(index + 1);
        let local_base = next.map_or(first.at.local_base, |next| next.header.callers_base);
        let (functions, again) = Frame::functions(frame.as_ref(), function, kernel.functions.len());
        let callee = &kernel.functions[function as usize];
        let saved = again.then(|| warp.rows.save(&callee.rows, callee.predicates.clone()));
        let depth = frame.as_ref().map_or(1, |frame| frame.depth + 1);
        let parent = frame.take();
        let return_pc = *pc;
        frame = Some(Arc::new(Frame {
            return_pc,
            function,
            parent,
            depth,
            local_base,
            callers_stack,
            saved,
            functions,
        }));
    }
    let pc = code.stops[first.at.stop as usize];
    let stored = code.stored.get(&pc).map_or(&[][..], Vec::as_slice);
    for lane in group {
        write(warp, kernel, lane.at.lane, (stored, lane.registers));
    }
    frame
}

/// Writes registers of a lane, which are listed in the order of their values, to the rows.
fn write(warp: &mut Warp, kernel: &Kernel, lane: u32, (bits, values): (&[u32], &[u64])) {
    for (bit, value) in bits.iter().zip(values) {
        if let Some(predicate) = bit.checked_sub(kernel.rows) {
            let bits = if value & 1 == 0 { 0 } else { u32::MAX };
            warp.rows.set_predicate(Predicate(predicate), 1 << lane, bits);
        } else {
            let wide = kernel.row_kinds[*bit as usize] == RowKind::Lower;
            let width = if wide { Width::Double } else { Width::Single };
            warp.rows.set_wide(Register(*bit), width, lane as usize, *value);
        }
    }
}
