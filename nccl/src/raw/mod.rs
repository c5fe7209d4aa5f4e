//! NCCL as C has it: its functions, types and constants, written by hand.

mod fns;
mod table;
mod types;

pub use self::fns::{FnId, Fns};
pub use self::types::{
    NCCL_CONFIG_MAGIC, NCCL_CONFIG_UNDEF_INT, NCCL_SHRINK_ABORT, NCCL_SHRINK_DEFAULT, NCCL_SPLIT_NOCOLOR,
    ncclComm_t, ncclConfig_t, ncclDataType_t, ncclRedOp_t, ncclResult_t, ncclScalarResidence_t, ncclUniqueId,
};
pub(crate) use table::nccl_call;
