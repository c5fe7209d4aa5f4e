//! Groups of calls.

use std::cell::RefCell;
use std::sync::Arc;

use cuprum_sys::CUstream;

use crate::code;
use crate::comm::Comm;
use crate::operation::{Request, enqueue};

#[derive(Default)]
struct Calls {
    depth: usize,
    /// The first error of a call in the group, after which none is made.
    failed: Option<i32>,
    operations: Vec<(Arc<Comm>, CUstream, Request)>,
    joining: Vec<Arc<Comm>>,
}

thread_local! {
    static CALLS: RefCell<Calls> = RefCell::default();
}

pub(crate) fn start() {
    CALLS.with_borrow_mut(|calls| calls.depth += 1);
}

/// Makes an operation, or leaves it to the end of the group.
pub(crate) fn operation(comm: &Arc<Comm>, stream: CUstream, request: Request) -> Result<(), i32> {
    let waits = CALLS.with_borrow_mut(|calls| {
        if calls.depth > 0 {
            calls.operations.push((Arc::clone(comm), stream, request));
        }
        calls.depth > 0
    });
    if waits { Ok(()) } else { enqueue(comm, stream, &[request]) }
}

/// Waits for a communicator that joins, or leaves that to the end of the group.
pub(crate) fn joined(comm: &Arc<Comm>) -> i32 {
    let waits = CALLS.with_borrow_mut(|calls| {
        if calls.depth > 0 {
            calls.joining.push(Arc::clone(comm));
        }
        calls.depth > 0
    });
    match (waits, comm.is_blocking) {
        (true, _) => code::SUCCESS,
        (false, true) => comm.wait(),
        (false, false) => code::IN_PROGRESS,
    }
}

/// Ends the group without a call, as an end that fails does.
pub(crate) fn cancel() {
    CALLS.with_borrow_mut(|calls| *calls = Calls::default());
}

/// Notes that a call failed, for the end of the group if there is one.
pub(crate) fn fail(code: i32) -> i32 {
    CALLS.with_borrow_mut(|calls| calls.failed = calls.failed.or(Some(code)).filter(|_| calls.depth > 0));
    code
}

pub(crate) fn end() -> Result<i32, i32> {
    let calls = CALLS.with_borrow_mut(|calls| {
        calls.depth = calls.depth.checked_sub(1)?;
        let rest = Calls { depth: calls.depth, ..Calls::default() };
        Some(if calls.depth == 0 { std::mem::take(calls) } else { rest })
    });
    let Calls { depth, failed, operations, joining } = calls.ok_or(code::USAGE)?;
    if depth > 0 {
        return Ok(code::SUCCESS);
    }
    if let Some(code) = failed {
        return Err(code);
    }
    let mut result = code::SUCCESS;
    for comm in joining {
        let code = if comm.is_blocking { comm.wait() } else { code::IN_PROGRESS };
        result = if result == code::SUCCESS { code } else { result };
    }
    // All of one communicator and stream arrive together.
    let mut batches: Vec<(Arc<Comm>, CUstream, Vec<Request>)> = Vec::new();
    for (comm, stream, request) in operations {
        match batches.iter_mut().find(|(other, on, _)| Arc::ptr_eq(other, &comm) && *on == stream) {
            Some((_, _, requests)) => requests.push(request),
            None => batches.push((comm, stream, vec![request])),
        }
    }
    for (comm, stream, requests) in batches {
        enqueue(&comm, stream, &requests)?;
    }
    Ok(result)
}
