//! The C structures of nodes, one per kind and revision, and their conversion to and from nodes.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::In;
use crate::driver::call::{InMut, Param};
use crate::driver::external::{Params, Semaphores};
use crate::driver::handle::Handle;
use crate::driver::stream::{Event, ValueBatch};
use crate::driver::transfer::{Element, Fill, from_3d};

use super::{CopyNode, NodeKind};

/// A C structure that describes nodes of one kind.
pub(super) trait NodeParams: Sized {
    /// Returns the operation of a node with these parameters.
    fn into_kind(self) -> Answer<NodeKind>;

    /// Returns the parameters of a node. Fails for a node of another kind.
    fn of(kind: &NodeKind) -> Answer<Self>;
}

impl NodeParams for CUDA_MEMCPY3D {
    fn into_kind(self) -> Answer<NodeKind> {
        Ok(NodeKind::Copy(Box::new(CopyNode { copy: from_3d(&self)?, params: self })))
    }

    fn of(kind: &NodeKind) -> Answer<Self> {
        match kind {
            NodeKind::Copy(node) => Ok(node.params),
            _ => Err(INVALID_VALUE),
        }
    }
}

impl NodeParams for CUDA_MEMCPY_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        self.copyParams.into_kind()
    }

    fn of(kind: &NodeKind) -> Answer<Self> {
        Ok(Self { copyParams: NodeParams::of(kind)?, ..Self::zeroed() })
    }
}

impl NodeParams for CUDA_MEMSET_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        let element = Element::new(self.value, u64::from(self.elementSize))?;
        let (width, rows) = (self.width as u64, self.height as u64);
        let fill = Fill::new(self.dst, self.pitch as u64, element, width, rows)?;
        Ok(NodeKind::Fill(fill, self))
    }

    fn of(kind: &NodeKind) -> Answer<Self> {
        match kind {
            NodeKind::Fill(_, params) => Ok(*params),
            _ => Err(INVALID_VALUE),
        }
    }
}

impl NodeParams for CUDA_HOST_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        ensure(self.fn_.is_some(), INVALID_VALUE)?;
        Ok(NodeKind::Host(self))
    }

    fn of(kind: &NodeKind) -> Answer<Self> {
        match kind {
            NodeKind::Host(params) => Ok(*params),
            _ => Err(INVALID_VALUE),
        }
    }
}

impl NodeParams for CUDA_BATCH_MEM_OP_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        ensure(self.flags == 0 && !self.ctx.is_null(), INVALID_VALUE)?;
        // SAFETY: the client's array of that many structures, valid during the call.
        let list = unsafe { InMut::from_raw(self.paramArray) };
        let batch = ValueBatch::new(list.input().get_all(self.count as usize)?)?;
        Ok(NodeKind::Values(Arc::new(batch), self.ctx))
    }

    /// The array belongs to the node, and is valid until the node changes.
    fn of(kind: &NodeKind) -> Answer<Self> {
        match kind {
            NodeKind::Values(batch, ctx) => Ok(Self {
                ctx: *ctx,
                count: batch.params.len() as u32,
                paramArray: batch.params.as_ptr().cast_mut(),
                flags: 0,
            }),
            _ => Err(INVALID_VALUE),
        }
    }
}

/// A C structure of which only the event matters here.
pub(super) trait EventParams: NodeParams {
    fn with(event: CUevent) -> Self;
}

/// The structures for events differ only in the kind of node.
macro_rules! events {
    ($( $params:ty => $kind:ident; )*) => { $(
        impl EventParams for $params {
            fn with(event: CUevent) -> Self {
                let mut params = Self::zeroed();
                params.event = event;
                params
            }
        }

        impl NodeParams for $params {
            fn into_kind(self) -> Answer<NodeKind> {
                Ok(NodeKind::$kind(Event::find(self.event)?))
            }

            fn of(kind: &NodeKind) -> Answer<Self> {
                match kind {
                    NodeKind::$kind(event) => Ok(Self::with(CUevent::from_addr(event.handle))),
                    _ => Err(INVALID_VALUE),
                }
            }
        }
    )* };
}

events! {
    CUDA_EVENT_RECORD_NODE_PARAMS => Record;
    CUDA_EVENT_WAIT_NODE_PARAMS => Wait;
}

/// The structures for semaphores differ only in their operation. A node returns its own arrays.
macro_rules! semaphores {
    ($( $params:ty => $make:ident, $variant:ident; )*) => { $(
        impl NodeParams for $params {
            fn into_kind(self) -> Answer<NodeKind> {
                let (handles, each) = (In::of(self.extSemArray.cast_const()), In::of(self.paramsArray));
                let semaphores = Semaphores::$make(handles, each, self.numExtSems as usize)?;
                Ok(NodeKind::Semaphores(Box::new(semaphores)))
            }

            fn of(kind: &NodeKind) -> Answer<Self> {
                let NodeKind::Semaphores(semaphores) = kind else { return Err(INVALID_VALUE) };
                let Params::$variant(each) = &semaphores.params else { return Err(INVALID_VALUE) };
                let handles = semaphores.handles.as_ptr().cast_mut();
                let count = semaphores.handles.len() as u32;
                Ok(Self { extSemArray: handles, paramsArray: each.as_ptr(), numExtSems: count })
            }
        }
    )* };
}

semaphores! {
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS => signals, Signals;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS => waits, Waits;
}

/// Other revisions of structures, by their common fields. Others are ignored, and read as zero.
macro_rules! revisions {
    ($( $revision:ty, of $params:ty: $( $field:ident ),*; )*) => { $(
        impl NodeParams for $revision {
            fn into_kind(self) -> Answer<NodeKind> {
                let mut params = <$params>::zeroed();
                $( params.$field = self.$field; )*
                params.into_kind()
            }

            fn of(kind: &NodeKind) -> Answer<Self> {
                let params = <$params>::of(kind)?;
                let mut revision = Self::zeroed();
                $( revision.$field = params.$field; )*
                Ok(revision)
            }
        }
    )* };
}

revisions! {
    CUDA_KERNEL_NODE_PARAMS_v1, of CUDA_KERNEL_NODE_PARAMS:
        func, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
        kernelParams, extra;
    CUDA_MEMSET_NODE_PARAMS_v2, of CUDA_MEMSET_NODE_PARAMS:
        dst, pitch, value, elementSize, width, height;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2, of CUDA_EXT_SEM_SIGNAL_NODE_PARAMS:
        extSemArray, paramsArray, numExtSems;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2, of CUDA_EXT_SEM_WAIT_NODE_PARAMS:
        extSemArray, paramsArray, numExtSems;
    CUDA_HOST_NODE_PARAMS_v2, of CUDA_HOST_NODE_PARAMS:
        fn_, userData;
}
