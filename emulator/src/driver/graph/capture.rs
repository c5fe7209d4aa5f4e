//! Stream capture: operations queued in a stream become a graph instead of running.

use core::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, In, InMut, Out, calls};
use crate::driver::handle::Handle;
use crate::driver::state::{Operation, Target, captures, exchange_mode};

use super::node::NodeKind;
use super::object::Graph;

impl Target for Arc<Graph> {
    fn handle(&self) -> usize {
        self.handle
    }

    fn add(&self, after: &[usize], operation: Box<dyn Operation>) -> Answer<usize> {
        Graph::add(self, after, NodeKind::from_operation(operation)?)
    }

    fn has(&self, nodes: &[usize]) -> bool {
        let shape = self.shape();
        nodes.iter().all(|node| shape.has(*node))
    }

    fn before(&self, node: usize) -> Vec<usize> {
        self.shape().before(node)
    }

    fn destroy(&self) {
        Graph::destroy(self);
    }
}

fn begin(call: &Call, stream: CUstream, mode: CUstreamCaptureMode) -> Answer {
    let lane = call.stream_of_capture(stream)?.lane();
    captures().begin(lane, mode, None, || Box::new(Graph::create()))
}

/// Outputs for the state of a capture; null ones are skipped.
struct Info {
    id: Out<u64>,
    graph: Option<Out<CUgraph>>,
    nodes: Option<Out<*const CUgraphNode>>,
    edges: Option<Out<*const CUgraphEdgeData>>,
    count: Option<Out<usize>>,
}

/// Returns data for this many edges, valid for the rest of the process, or null for none. Edges
/// have no data here, so all of it is zero, the default kind.
fn plain_edges(count: usize) -> *const CUgraphEdgeData {
    static PLAIN: Mutex<&[CUgraphEdgeData]> = Mutex::new(&[]);
    let mut plain = PLAIN.lock().unwrap_or_else(PoisonError::into_inner);
    if plain.len() < count {
        // Doubles, so all arrays together are no more than twice the last one.
        *plain = Vec::leak(vec![CUgraphEdgeData::zeroed(); count.next_power_of_two()]);
    }
    if count == 0 { ptr::null() } else { plain.as_ptr() }
}

fn info(call: &Call, stream: CUstream, status: Out<CUstreamCaptureStatus>, wanted: &Info) -> Answer {
    status.check()?;
    let lane = call.stream_of_capture(stream)?.lane();
    let Some(capture) = captures().view(lane)? else {
        return status.set(CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE);
    };
    status.set(capture.status)?;
    let edges = wanted.edges.filter(|edges| !edges.is_null());
    ensure(edges.is_none() || wanted.nodes.is_some_and(|nodes| !nodes.is_null()), INVALID_VALUE)?;
    if let Some(edges) = edges {
        edges.set(plain_edges(capture.count))?;
    }
    wanted.id.set_if_wanted(capture.id);
    if let Some(graph) = wanted.graph {
        graph.set_if_wanted(CUgraph::from_addr(capture.graph));
    }
    if let Some(nodes) = wanted.nodes {
        nodes.set_if_wanted(capture.nodes);
    }
    if let Some(count) = wanted.count {
        count.set_if_wanted(capture.count);
    }
    Ok(())
}

fn update_dependencies(
    call: &Call,
    stream: CUstream,
    nodes: In<CUgraphNode>,
    count: usize,
    flags: u32,
) -> Answer {
    let lane = call.stream(stream)?.lane();
    ensure(captures().has(lane), CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    let set = CUstreamUpdateCaptureDependencies_flags::CU_STREAM_SET_CAPTURE_DEPENDENCIES.0;
    ensure(flags <= set, INVALID_VALUE)?;
    let nodes: Vec<usize> = nodes.get_all(count)?.into_iter().map(Handle::addr).collect();
    captures().depend_on(lane, nodes, flags == set)
}

calls! {
    fn cuStreamBeginCapture(call, hStream: CUstream) {
        begin(call, hStream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL)
    }

    fn cuStreamBeginCapture_v2(call, hStream: CUstream, mode: CUstreamCaptureMode) {
        begin(call, hStream, mode)
    }

    fn cuStreamBeginCaptureToGraph(
        call,
        hStream: CUstream,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        _dependencyData: In<CUgraphEdgeData>,
        numDependencies: usize,
        mode: CUstreamCaptureMode,
    ) {
        let graph = Graph::find(hGraph)?;
        let after = dependencies.get_all(numDependencies)?.into_iter().map(Handle::addr).collect();
        let lane = call.stream_of_capture(hStream)?.lane();
        captures().begin(lane, mode, Some(after), || Box::new(graph))
    }

    fn cuStreamEndCapture(call, hStream: CUstream, phGraph: Out<CUgraph>) {
        let lane = call.stream_of_capture(hStream)?.lane();
        let graph = captures().end(lane);
        // A client that captures into its own graph already has it.
        phGraph.set_if_wanted(CUgraph::from_addr(graph.unwrap_or(0)));
        graph.map(drop)
    }

    fn cuStreamIsCapturing(
        call,
        hStream: CUstream,
        captureStatus: Out<CUstreamCaptureStatus>,
    ) {
        captureStatus.check()?;
        let lane = call.stream_of_capture(hStream)?.lane();
        let none = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        captureStatus.set(captures().view(lane)?.map_or(none, |capture| capture.status))
    }

    fn cuStreamGetCaptureInfo(
        call,
        hStream: CUstream,
        captureStatus_out: Out<CUstreamCaptureStatus>,
        id_out: Out<u64>,
    ) {
        let wanted = Info { id: id_out, graph: None, nodes: None, edges: None, count: None };
        info(call, hStream, captureStatus_out, &wanted)
    }

    fn cuStreamGetCaptureInfo_v2(
        call,
        hStream: CUstream,
        captureStatus_out: Out<CUstreamCaptureStatus>,
        id_out: Out<u64>,
        graph_out: Out<CUgraph>,
        dependencies_out: Out<*const CUgraphNode>,
        numDependencies_out: Out<usize>,
    ) {
        let wanted = Info {
            id: id_out,
            graph: Some(graph_out),
            nodes: Some(dependencies_out),
            edges: None,
            count: Some(numDependencies_out),
        };
        info(call, hStream, captureStatus_out, &wanted)
    }

    fn cuStreamGetCaptureInfo_v3(
        call,
        hStream: CUstream,
        captureStatus_out: Out<CUstreamCaptureStatus>,
        id_out: Out<u64>,
        graph_out: Out<CUgraph>,
        dependencies_out: Out<*const CUgraphNode>,
        edgeData_out: Out<*const CUgraphEdgeData>,
        numDependencies_out: Out<usize>,
    ) {
        let wanted = Info {
            id: id_out,
            graph: Some(graph_out),
            nodes: Some(dependencies_out),
            edges: Some(edgeData_out),
            count: Some(numDependencies_out),
        };
        info(call, hStream, captureStatus_out, &wanted)
    }

    fn cuStreamUpdateCaptureDependencies(
        call,
        hStream: CUstream,
        dependencies: InMut<CUgraphNode>,
        numDependencies: usize,
        flags: u32,
    ) {
        update_dependencies(call, hStream, dependencies.input(), numDependencies, flags)
    }

    fn cuStreamUpdateCaptureDependencies_v2(
        call,
        hStream: CUstream,
        dependencies: InMut<CUgraphNode>,
        _dependencyData: In<CUgraphEdgeData>,
        numDependencies: usize,
        flags: u32,
    ) {
        update_dependencies(call, hStream, dependencies.input(), numDependencies, flags)
    }

    /// Accepts any number, like hardware; an unknown one forbids as much as the global mode.
    fn cuThreadExchangeStreamCaptureMode(_call, mode: Out<CUstreamCaptureMode>) {
        let wanted = mode.get()?;
        mode.set(exchange_mode(wanted))
    }
}
