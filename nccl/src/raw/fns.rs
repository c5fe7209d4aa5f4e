//! The list of functions: data and nothing else. One line is one exported symbol.
//!
//! The number is the code of the first NCCL that has it, as `ncclGetVersion` writes it: 21800 is
//! 2.18.0. The crate promises to work from 2.18 on, so older functions are listed with that
//! version.

use core::ffi::{c_char, c_int, c_void};
use core::fmt;

use super::table::nccl_fns;
use super::types::*;
use cuprum::sys::CUstream;

nccl_fns! {
    // The library
    /// Writes the version: 22703 is 2.27.3.
    21800 fn ncclGetVersion(version: *mut c_int) -> ncclResult_t;
    /// Returns NCCL's text on the last error of this thread; the communicator is not used.
    21800 fn ncclGetLastError(comm: ncclComm_t) -> *const c_char;
    /// Makes the name by which the members of a group find each other.
    21800 fn ncclGetUniqueId(uniqueId: *mut ncclUniqueId) -> ncclResult_t;

    // Communicators
    /// Makes one communicator for each device of this process; without a list, for the first
    /// `ndev`.
    21800 fn ncclCommInitAll(comm: *mut ncclComm_t, ndev: c_int, devlist: *const c_int) -> ncclResult_t;
    /// Joins a group, on the current device.
    21800 fn ncclCommInitRankConfig(comm: *mut ncclComm_t, nranks: c_int, commId: ncclUniqueId, rank: c_int, config: *mut ncclConfig_t) -> ncclResult_t;
    /// Makes smaller groups of one: a member for each color.
    21800 fn ncclCommSplit(comm: ncclComm_t, color: c_int, key: c_int, newcomm: *mut ncclComm_t, config: *mut ncclConfig_t) -> ncclResult_t;
    /// Makes a group without some of its members; they do not call it.
    22700 fn ncclCommShrink(comm: ncclComm_t, excludeRanksList: *mut c_int, excludeRanksCount: c_int, newcomm: *mut ncclComm_t, config: *mut ncclConfig_t, shrinkFlags: c_int) -> ncclResult_t;
    /// Completes the communicator's outstanding work, before it is destroyed.
    21800 fn ncclCommFinalize(comm: ncclComm_t) -> ncclResult_t;
    /// Frees a communicator.
    21800 fn ncclCommDestroy(comm: ncclComm_t) -> ncclResult_t;
    /// Ends work that is queued, and frees a communicator.
    21800 fn ncclCommAbort(comm: ncclComm_t) -> ncclResult_t;
    /// Writes the state: success, in progress, or the error that the communicator had.
    21800 fn ncclCommGetAsyncError(comm: ncclComm_t, asyncError: *mut ncclResult_t) -> ncclResult_t;
    /// Writes the number of members.
    21800 fn ncclCommCount(comm: ncclComm_t, count: *mut c_int) -> ncclResult_t;
    /// Writes the device's ordinal.
    21800 fn ncclCommCuDevice(comm: ncclComm_t, device: *mut c_int) -> ncclResult_t;
    /// Writes the member's number.
    21800 fn ncclCommUserRank(comm: ncclComm_t, rank: *mut c_int) -> ncclResult_t;
    /// Registers memory, so that collectives on it need no copies of their own.
    21900 fn ncclCommRegister(comm: ncclComm_t, buff: *mut c_void, size: usize, handle: *mut *mut c_void) -> ncclResult_t;
    /// Ends such a registration.
    21900 fn ncclCommDeregister(comm: ncclComm_t, handle: *mut c_void) -> ncclResult_t;

    // Operators
    /// Makes an operator that multiplies each member's elements by that member's number, and sums.
    21800 fn ncclRedOpCreatePreMulSum(op: *mut ncclRedOp_t, scalar: *mut c_void, datatype: ncclDataType_t, residence: ncclScalarResidence_t, comm: ncclComm_t) -> ncclResult_t;
    /// Destroys such an operator.
    21800 fn ncclRedOpDestroy(op: ncclRedOp_t, comm: ncclComm_t) -> ncclResult_t;

    // Collectives
    /// Reduces to one member.
    21800 fn ncclReduce(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, root: c_int, comm: ncclComm_t, stream: CUstream) -> ncclResult_t;
    /// Copies one member's elements to all.
    21800 fn ncclBroadcast(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: CUstream) -> ncclResult_t;
    /// Reduces to all members.
    21800 fn ncclAllReduce(sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream) -> ncclResult_t;
    /// Reduces, and leaves one part with each member.
    21800 fn ncclReduceScatter(sendbuff: *const c_void, recvbuff: *mut c_void, recvcount: usize, datatype: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: CUstream) -> ncclResult_t;
    /// Collects a part of each member, in all.
    21800 fn ncclAllGather(sendbuff: *const c_void, recvbuff: *mut c_void, sendcount: usize, datatype: ncclDataType_t, comm: ncclComm_t, stream: CUstream) -> ncclResult_t;
    /// Sends to one member, which receives.
    21800 fn ncclSend(sendbuff: *const c_void, count: usize, datatype: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: CUstream) -> ncclResult_t;
    /// Receives the elements that one member sends.
    21800 fn ncclRecv(recvbuff: *mut c_void, count: usize, datatype: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: CUstream) -> ncclResult_t;

    // Groups of calls
    /// Begins a group of calls of this thread.
    21800 fn ncclGroupStart() -> ncclResult_t;
    /// Makes the calls of the group, together.
    21800 fn ncclGroupEnd() -> ncclResult_t;
}

impl FnId {
    /// The exported name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.c_name().trim_end_matches('\0')
    }

    /// The first version that has it; 2.18 for those that are older.
    #[must_use]
    pub const fn since(self) -> crate::NcclVersion {
        crate::NcclVersion::from_raw(self.since_code())
    }
}

impl fmt::Display for FnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for FnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Fns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fns").finish_non_exhaustive()
    }
}
