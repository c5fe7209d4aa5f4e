//! Collectives, checked and queued.

use std::ffi::c_int;
use std::sync::PoisonError;

use cuprum_sys::CUstream;

use crate::exports::{Raw, ready};
use crate::messages::Function;
use crate::operation::Request;
use crate::reduce::size_of_type;
use crate::{code, group, refuse};

/// Checks a collective, and queues it.
///
/// # Safety
/// The communicator is null or has not ended; memory and stream are the program's.
pub(crate) unsafe fn queue(
    raw: Raw,
    stream: CUstream,
    function: Function,
    (from, to): (Raw, Raw),
    count: usize,
    (data_type, operator, peer): (c_int, c_int, c_int),
) -> Result<c_int, i32> {
    // SAFETY: guaranteed by the caller.
    let comm = unsafe { ready(raw) }?;
    let (data_type, peer) = (data_type as u64, peer as u64);
    if size_of_type(data_type).is_none() || peer >= comm.size {
        return Err(refuse(code::ARGUMENT, "there is no such type, or no such member"));
    }
    let mut factor = 0;
    if operator > 4 {
        let factors = comm.factors.lock().unwrap_or_else(PoisonError::into_inner);
        match factors.get(operator as usize - 5) {
            Some(Some((of, bits))) if *of == data_type => factor = *bits,
            _ => return Err(refuse(code::ARGUMENT, "there is no such operator for this type")),
        }
    } else if operator < 0 {
        return Err(refuse(code::ARGUMENT, "there is no such operator"));
    }
    if count == 0 && !matches!(function, Function::Send | Function::Receive) {
        return Ok(code::SUCCESS);
    }
    let (from, to) = (from.addr() as u64, to.addr() as u64);
    if (from == 0 || to == 0) && count > 0 {
        return Err(refuse(code::ARGUMENT, "memory is null"));
    }
    // A premultiplied sum has another number with each member.
    let operator = operator.min(5) as u64;
    let request = Request { function, from, to, count, data_type, operator, factor, peer };
    group::operation(comm, stream, request).map(|()| code::SUCCESS)
}
