//! One collective, checked and ready to be called.

use std::ffi::{c_int, c_void};

use cuprum::region::Region;
use cuprum::sys::CUstream;

use crate::Communicator;
use crate::owner::Shared;
use crate::raw::{FnId, nccl_call, ncclComm_t, ncclDataType_t, ncclRedOp_t};
use crate::{Nccl, NcclError};

/// Arguments of a collective.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) function: FnId,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) count: usize,
    pub(crate) data_type: ncclDataType_t,
    pub(crate) operator: ncclRedOp_t,
    /// The root, or the other side of a send or receive.
    pub(crate) peer: c_int,
}

/// A collective with all that it uses: one call, or several that go together. `'c` is the loan of
/// the communicator. It is `pub` only because a hidden method takes it.
#[derive(Debug)]
pub struct Work<'r, 'c> {
    pub(crate) member: &'c Communicator,
    pub(crate) regions: [Option<&'r Region>; 2],
    pub(crate) calls: &'r [Call],
}

impl Work<'_, '_> {
    /// Makes the call, or all of them together.
    #[inline]
    pub(crate) fn make(&self, stream: CUstream) -> Result<(), NcclError> {
        let shared = self.member.shared();
        if let [call] = self.calls {
            // SAFETY: the memory has so many elements and is lent to, or noted for, the stream,
            // which the caller has from a scope, a capture or a queue of the member's context.
            shared.call(|nccl, comm| unsafe { call.make(nccl, comm, stream) })?;
            return shared.settle();
        }
        let calls: Vec<_> = self.calls.iter().map(|call| (shared, *call, stream)).collect();
        // SAFETY: as above.
        unsafe { make_all(&calls) }
    }
}

/// Makes calls of several communicators and streams together.
///
/// Nothing is begun before all communicators are locked and found alive, so that an error leaves no
/// group open.
///
/// # Safety
/// The memory of each call is lent to, or noted for, its stream, of the communicator's context.
pub(crate) unsafe fn make_all(calls: &[(&Shared, Call, CUstream)]) -> Result<(), NcclError> {
    let mut members: Vec<&Shared> = calls.iter().map(|(shared, ..)| *shared).collect();
    // In one order in all threads, and each once.
    members.sort_by_key(|shared| std::ptr::from_ref(*shared));
    members.dedup_by_key(|shared| std::ptr::from_ref(*shared));
    let Some(first) = members.first().copied() else { return Ok(()) };
    let nccl = first.nccl();
    let guards = members.iter().map(|shared| shared.live()).collect::<Result<Vec<_>, _>>()?;
    let comm_of = |shared: &Shared| {
        let at = members.iter().position(|member| std::ptr::eq(*member, shared));
        at.and_then(|at| guards.get(at)).map(|guard| guard.comm())
    };
    // SAFETY: it has no arguments.
    unsafe { nccl_call!(nccl, ncclGroupStart()) }?;
    let mut made = Ok(());
    for (shared, call, stream) in calls {
        let Some(comm) = comm_of(shared) else { continue };
        // SAFETY: guaranteed by the caller; the communicator is locked.
        made = unsafe { call.make(nccl, comm, *stream) };
        if made.is_err() {
            break;
        }
    }
    // SAFETY: a group was started by this thread.
    let ended = unsafe { nccl_call!(nccl, ncclGroupEnd()) };
    drop(guards);
    let settled = members.iter().try_for_each(|shared| shared.settle());
    made.and(ended).and(settled).map_err(|error| first.explain(error))
}

impl Call {
    /// # Safety
    /// The communicator is live and locked; both sides have as many elements as the function uses,
    /// in its context, and are lent to, or noted for, the stream.
    unsafe fn make(&self, nccl: Nccl, comm: ncclComm_t, stream: CUstream) -> Result<(), NcclError> {
        let Self { function, from, to, count, data_type, operator, peer } = *self;
        let from = std::ptr::without_provenance::<c_void>(from as usize);
        let to = std::ptr::without_provenance_mut::<c_void>(to as usize);
        macro_rules! make {
            ($name:ident($($argument:ident),*)) => {{
                // SAFETY: guaranteed by the caller.
                unsafe { nccl_call!(nccl, $name($($argument,)* comm, stream)) }
            }};
        }
        match function {
            FnId::ncclAllReduce => make!(ncclAllReduce(from, to, count, data_type, operator)),
            FnId::ncclReduce => make!(ncclReduce(from, to, count, data_type, operator, peer)),
            FnId::ncclBroadcast => make!(ncclBroadcast(from, to, count, data_type, peer)),
            FnId::ncclReduceScatter => make!(ncclReduceScatter(from, to, count, data_type, operator)),
            FnId::ncclAllGather => make!(ncclAllGather(from, to, count, data_type)),
            FnId::ncclSend => make!(ncclSend(from, count, data_type, peer)),
            _ => make!(ncclRecv(to, count, data_type, peer)),
        }
    }
}
