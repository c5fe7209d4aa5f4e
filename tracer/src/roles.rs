//! Roles of functions: queue work, or wait for it.

use std::sync::OnceLock;

use cuprum_sys::{CUresult, FnId};

use crate::read::{Call, Recording};

/// Work that a function queues on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queues {
    Kernel,
    Copy(&'static str),
    Fill,
    Other(&'static str),
}

impl Queues {
    /// The kind in one word.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Copy(_) => "copy",
            Self::Fill => "fill",
            Self::Other(_) => "other",
        }
    }
}

/// A function's role.
#[derive(Clone, Copy, Default)]
struct Role {
    queues: Option<Queues>,
    waits: bool,
    blocks: bool,
}

/// Work that functions queue, by the beginning of their names; the first match counts.
const QUEUING: &[(&str, Queues)] = &[
    ("cuLaunchHostFunc", Queues::Other("host function")),
    ("cuStreamAddCallback", Queues::Other("host function")),
    ("cuLaunchGrid", Queues::Kernel),
    ("cuLaunchKernel", Queues::Kernel),
    ("cuLaunchCooperativeKernel", Queues::Kernel),
    ("cuGraphLaunch", Queues::Other("graph")),
    ("cuMemcpyHtoD", Queues::Copy("to device")),
    ("cuMemcpyHtoA", Queues::Copy("to device")),
    ("cuMemcpyDtoH", Queues::Copy("to host")),
    ("cuMemcpyAtoH", Queues::Copy("to host")),
    ("cuMemcpyDto", Queues::Copy("on device")),
    ("cuMemcpyAto", Queues::Copy("on device")),
    ("cuMemcpyPeer", Queues::Copy("between devices")),
    ("cuMemcpy3DPeer", Queues::Copy("between devices")),
    ("cuMemcpy", Queues::Copy("")),
    ("cuMemset", Queues::Fill),
    ("cuMemAllocAsync", Queues::Other("allocation")),
    ("cuMemAllocFromPoolAsync", Queues::Other("allocation")),
    ("cuMemFreeAsync", Queues::Other("free")),
    ("cuMemPrefetch", Queues::Other("prefetch")),
];

/// Functions that return when work is over, or report that it is.
const WAITING: &[&str] = &[
    "cuStreamSynchronize",
    "cuEventSynchronize",
    "cuCtxSynchronize",
    "cuCtxSynchronize_v2",
    "cuStreamQuery",
    "cuEventQuery",
];

fn role(function: FnId) -> Role {
    static ROLES: OnceLock<Vec<Role>> = OnceLock::new();
    ROLES.get_or_init(|| FnId::ALL.iter().map(|function| role_of(&function.to_string())).collect())
        [function as usize]
}

fn role_of(name: &str) -> Role {
    let queues = QUEUING.iter().find(|(start, _)| name.starts_with(start)).map(|(_, queues)| *queues);
    // Copies to the host are complete when they return, unless their name says otherwise.
    let copies_back = matches!(queues, Some(Queues::Copy("to host"))) && !name.contains("Async");
    let waits = WAITING.contains(&name) || copies_back;
    Role { queues, waits, blocks: waits && !name.ends_with("Query") }
}

/// Work that a function queues on a stream.
pub(crate) fn queues(function: FnId) -> Option<Queues> {
    role(function).queues
}

/// True if work is known to be over when it returns with success.
pub(crate) fn waits(function: FnId) -> bool {
    role(function).waits
}

/// True if it keeps the host until work is over.
pub(crate) fn blocks(function: FnId) -> bool {
    role(function).blocks
}

/// True if a call returned an error; "not ready" is none.
pub(crate) fn is_answer_no(call: &Call) -> bool {
    !matches!(call.result, Some(CUresult::CUDA_SUCCESS | CUresult::CUDA_ERROR_NOT_READY) | None)
}

/// True if it waits for all streams of a context.
pub(crate) fn waits_for_context(function: FnId) -> bool {
    matches!(function, FnId::cuCtxSynchronize | FnId::cuCtxSynchronize_v2)
}

/// The label of a copy: its direction and its bytes.
pub(crate) fn copy_label(recording: &Recording, call: &Call, direction: &str) -> String {
    let structure = recording.copy(call);
    let direction = match (direction, structure) {
        ("", Some([from, to, _])) => between(from, to),
        (direction, _) => direction,
    };
    let sizes = ["ByteCount", "size"].iter().find_map(|name| recording.argument(call, name));
    let bytes = structure.map(|[_, _, bytes]| bytes).or(sizes);
    let direction = if direction.is_empty() { String::new() } else { format!(" {direction}") };
    match bytes {
        Some(bytes) => format!("copy{direction}, {}", bytes_as_text(bytes)),
        None => format!("copy{direction}"),
    }
}

/// The direction between kinds of memory.
fn between(from: u64, to: u64) -> &'static str {
    const HOST: u64 = 1;
    const UNIFIED: u64 = 4;
    match (from, to) {
        (UNIFIED, _) | (_, UNIFIED) => "",
        (HOST, HOST) => "on host",
        (HOST, _) => "to device",
        (_, HOST) => "to host",
        _ => "on device",
    }
}

/// A number of bytes as people read it.
pub(crate) fn bytes_as_text(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];
    let &(unit, shift) = UNITS.iter().find(|(_, shift)| bytes >> shift > 0).unwrap_or(&UNITS[3]);
    let number = bytes as f64 / (1u64 << shift) as f64;
    if shift == 0 || number.fract() == 0.0 {
        format!("{number} {unit}")
    } else {
        format!("{number:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_roles_that_their_names_say() {
        let queued = |function| queues(function);
        assert_eq!(queued(FnId::cuLaunchKernelEx), Some(Queues::Kernel));
        assert_eq!(queued(FnId::cuLaunchHostFunc), Some(Queues::Other("host function")));
        assert_eq!(queued(FnId::cuMemcpyDtoHAsync_v2), Some(Queues::Copy("to host")));
        assert_eq!(queued(FnId::cuMemcpyDtoA_v2), Some(Queues::Copy("on device")));
        assert_eq!(queued(FnId::cuMemsetD32_v2), Some(Queues::Fill));
        assert_eq!(queued(FnId::cuMemAlloc_v2), None);
        assert!(blocks(FnId::cuMemcpyDtoH_v2) && blocks(FnId::cuStreamSynchronize));
        assert!(!blocks(FnId::cuMemcpyDtoHAsync_v2) && !blocks(FnId::cuMemcpyHtoD_v2));
        assert!(waits(FnId::cuEventQuery) && !blocks(FnId::cuEventQuery));
    }

    #[test]
    fn bytes_are_short() {
        let texts = [0, 1023, 1024, 1536, 4 << 20, 3 << 30].map(bytes_as_text);
        assert_eq!(texts, ["0 B", "1023 B", "1 KiB", "1.5 KiB", "4 MiB", "3 GiB"]);
    }
}
