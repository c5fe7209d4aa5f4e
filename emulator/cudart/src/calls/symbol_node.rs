//! Nodes that copy to and from variables of a program.

use core::ffi::c_void;

use cuprum_sys::{CUDA_MEMCPY3D, CUgraph, CUgraphExec, CUgraphNode};

use crate::calls::copy::{DEVICE_TO_HOST, HOST_TO_DEVICE, Kind, part};
use crate::calls::{boxes, node};
use crate::error::Result;
use crate::exported::calls;
use crate::state::device::Here;

calls! {
    fn cudaGraphAddMemcpyNodeToSymbol[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        symbol: *const c_void,
        source: *const c_void,
        count: usize,
        offset: usize,
        kind: Kind,
    ) |here| {
        let copy = to_symbol(&here, symbol, source, count, offset, kind)?;
        // SAFETY: the caller's outputs.
        unsafe { node::add_copy(&here, node, (graph, after, number), &copy) }
    }

    fn cudaGraphMemcpyNodeSetParamsToSymbol[](
        node: CUgraphNode,
        symbol: *const c_void,
        source: *const c_void,
        count: usize,
        offset: usize,
        kind: Kind,
    ) |here| {
        let copy = to_symbol(&here, symbol, source, count, offset, kind)?;
        node::set_copy(&here, node, &copy)
    }

    fn cudaGraphExecMemcpyNodeSetParamsToSymbol[](
        exec: CUgraphExec,
        node: CUgraphNode,
        symbol: *const c_void,
        source: *const c_void,
        count: usize,
        offset: usize,
        kind: Kind,
    ) |here| {
        let copy = to_symbol(&here, symbol, source, count, offset, kind)?;
        node::set_copy_in(&here, exec, node, &copy)
    }

    fn cudaGraphAddMemcpyNodeFromSymbol[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        target: *mut c_void,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: Kind,
    ) |here| {
        let copy = from_symbol(&here, target, symbol, count, offset, kind)?;
        // SAFETY: the caller's outputs.
        unsafe { node::add_copy(&here, node, (graph, after, number), &copy) }
    }

    fn cudaGraphMemcpyNodeSetParamsFromSymbol[](
        node: CUgraphNode,
        target: *mut c_void,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: Kind,
    ) |here| {
        let copy = from_symbol(&here, target, symbol, count, offset, kind)?;
        node::set_copy(&here, node, &copy)
    }

    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol[](
        exec: CUgraphExec,
        node: CUgraphNode,
        target: *mut c_void,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: Kind,
    ) |here| {
        let copy = from_symbol(&here, target, symbol, count, offset, kind)?;
        node::set_copy_in(&here, exec, node, &copy)
    }
}

fn to_symbol(
    here: &Here,
    symbol: *const c_void,
    source: *const c_void,
    count: usize,
    offset: usize,
    kind: Kind,
) -> Result<CUDA_MEMCPY3D> {
    boxes::row(part(here, symbol, count, offset, kind, HOST_TO_DEVICE)?, source, count, kind)
}

fn from_symbol(
    here: &Here,
    target: *mut c_void,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: Kind,
) -> Result<CUDA_MEMCPY3D> {
    boxes::row(target, part(here, symbol, count, offset, kind, DEVICE_TO_HOST)?, count, kind)
}
