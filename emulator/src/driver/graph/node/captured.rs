//! Converts captured operations to nodes.

use core::any::Any;
use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE};
use crate::driver::code::{Launch, function_of};
use crate::driver::external::Semaphores;
use crate::driver::handle::Handle;
use crate::driver::state::Operation;
use crate::driver::stream::{Allocation, Free, HostCall, Marker, Record, ValueBatch, WaitFor};
use crate::driver::transfer::{Copy, Fill};

use super::kernel_node::KernelNode;
use super::{CopyNode, NodeKind, current_context};

impl NodeKind {
    pub(in crate::driver::graph) fn from_operation(operation: Box<dyn Operation>) -> Answer<Self> {
        /// Tries the kinds of operations in order.
        macro_rules! first_of {
            ($operation:ident, $( $kind:ty => $make:expr ),* $(,)?) => {
                $( let $operation = match $operation.downcast::<$kind>() {
                    Ok(operation) => return $make(*operation),
                    Err(other) => other,
                }; )*
                drop($operation);
            };
        }
        let operation: Box<dyn Any> = operation.into_any();
        first_of! {
            operation,
            Launch => Self::from_launch,
            Copy => |copy: Copy| {
                let params = copy.describe();
                Ok(Self::Copy(Box::new(CopyNode { copy: Some(copy), params })))
            },
            Fill => |fill: Fill| {
                let described = fill.describe();
                Ok(Self::Fill(Some(fill), described))
            },
            Record => |record: Record| Ok(Self::Record(Arc::clone(&record.event))),
            Semaphores => |semaphores: Semaphores| Ok(Self::Semaphores(Box::new(semaphores))),
            WaitFor => |WaitFor(event)| Ok(Self::Wait(event)),
            HostCall => |HostCall { function, data }| {
                Ok(Self::Host(CUDA_HOST_NODE_PARAMS { fn_: function, userData: data }))
            },
            Allocation => |Allocation { block, device }| Ok(Self::allocation(block, device)),
            Free => |Free(address)| Ok(Self::Free(address)),
            ValueBatch => |batch| Ok(Self::Values(Arc::new(batch), CUcontext::from_addr(current_context()?.handle))),
            Marker => |Marker| Ok(Self::Empty),
        }
        // Launches of graphs, and callbacks with a status.
        Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
    }

    fn from_launch(launch: Launch) -> Answer<Self> {
        let module = &launch.function.module;
        let index = module.program.kernel(launch.function.kernel.name()).ok_or(INVALID_VALUE)?;
        let handle = CUfunction::from_addr(function_of(module, index)?);
        Ok(Self::Kernel(Arc::new(KernelNode::new(launch, handle))))
    }
}
