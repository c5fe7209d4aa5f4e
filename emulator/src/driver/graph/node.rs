//! What nodes do, and the C structures that describe it.

use core::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cuprum_sys::*;

use crate::memory::{Region, RegionKind};

use super::super::allocation::allocate_in;
use super::super::call::{Answer, INVALID_VALUE, In, InMut, NOT_SUPPORTED, Out, calls, ensure, put_handle};
use super::super::context::Context;
use super::super::copy::{self, Copy};
use super::super::event::Event;
use super::super::function::Function;
use super::super::handle::Handle;
use super::super::launch::{Launch, Shape as LaunchShape, pack_params};
use super::super::memset::{Element, Fill};
use super::super::operation::{HostCall, Operation};
use super::super::schedule::Ticket;
use super::super::state::emulator;
use super::super::stream::LEAST_PRIORITY;
use super::condition::Conditional;
use super::exec::Steps;
use super::{Graph, Node, Owner};

/// What a node does.
#[derive(Debug, Clone)]
pub(in crate::driver) enum NodeKind {
    Empty,
    Kernel(Arc<KernelNode>),
    Copy(Box<CopyNode>),
    Fill(Option<Fill>, CUDA_MEMSET_NODE_PARAMS),
    Host(CUDA_HOST_NODE_PARAMS),
    Child(Arc<Graph>),
    Record(Arc<Event>),
    Wait(Arc<Event>),
    /// Memory that lives as long as a graph or an executable graph has this node.
    Alloc(Arc<Allocated>),
    /// The end of such memory.
    Free(u64),
    /// Graphs that run as a condition says.
    Conditional(Arc<Conditional>),
}

// SAFETY: the raw pointers are the client's, kept to be used as `HostCall` and `Bytes` use theirs,
// or to be handed back; nothing else looks behind them.
unsafe impl Send for NodeKind {}
// SAFETY: as above.
unsafe impl Sync for NodeKind {}

/// A copy, `None` if it is empty, and the structure it was made from.
#[derive(Debug, Clone)]
pub(in crate::driver) struct CopyNode {
    copy: Option<Copy>,
    params: CUDA_MEMCPY3D,
}

/// A launch, with its arguments as an array of pointers for a client that asks for them.
#[derive(Debug)]
pub(in crate::driver) struct KernelNode {
    launch: Launch,
    handle: CUfunction,
    pointers: Box<[*mut c_void]>,
    priority: i32,
}

// SAFETY: the pointers lead into the arguments of `launch`, which is not changed any more.
unsafe impl Send for KernelNode {}
// SAFETY: as above.
unsafe impl Sync for KernelNode {}

impl KernelNode {
    pub(in crate::driver) fn new(launch: Launch, handle: CUfunction) -> Self {
        let params = launch.function.kernel.params().iter();
        let start = launch.params.as_ptr();
        let pointers = params.map(|param| start.wrapping_add(param.offset as usize).cast_mut().cast());
        Self { handle, pointers: pointers.collect(), launch, priority: LEAST_PRIORITY }
    }

    /// The structure that describes it. The arguments live as long as the node does this.
    fn params(&self) -> CUDA_KERNEL_NODE_PARAMS {
        let LaunchShape { grid, block, dynamic_shared, .. } = self.launch.shape;
        CUDA_KERNEL_NODE_PARAMS {
            func: self.handle,
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: block[0],
            blockDimY: block[1],
            blockDimZ: block[2],
            sharedMemBytes: dynamic_shared,
            kernelParams: self.pointers.as_ptr().cast_mut(),
            ..CUDA_KERNEL_NODE_PARAMS::zeroed()
        }
    }

    /// The attributes that change anything here; the others read as zero.
    fn attribute(&self, attribute: CUlaunchAttributeID) -> Answer<CUlaunchAttributeValue> {
        ensure(attribute.name().is_some(), INVALID_VALUE)?;
        let mut value = CUlaunchAttributeValue::zeroed();
        match attribute {
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                value.cooperative = i32::from(self.launch.shape.cooperative);
            }
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY => value.priority = self.priority,
            _ => {}
        }
        Ok(value)
    }

    fn with_attribute(&self, attribute: CUlaunchAttributeID, value: &CUlaunchAttributeValue) -> Answer<Self> {
        ensure(attribute.name().is_some(), INVALID_VALUE)?;
        let mut launch = self.launch.clone();
        let mut priority = self.priority;
        match attribute {
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                // SAFETY: the id says that this is the member.
                launch.shape.cooperative = unsafe { value.cooperative } != 0;
            }
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY => {
                // SAFETY: as above.
                priority = unsafe { value.priority };
            }
            _ => {}
        }
        Ok(Self { priority, ..Self::new(launch, self.handle) })
    }
}

/// The launch of a kernel node.
fn kernel_of(node: CUgraphNode) -> Answer<Arc<KernelNode>> {
    match &*Node::find(node)?.kind() {
        NodeKind::Kernel(kernel) => Ok(Arc::clone(kernel)),
        _ => Err(INVALID_VALUE),
    }
}

/// Memory of an allocation node; freed with the last graph that has the node.
#[derive(Debug)]
pub(in crate::driver) struct Allocated {
    region: Region,
    device: i32,
    params: CUDA_MEM_ALLOC_NODE_PARAMS_v1,
}

impl Allocated {
    fn memory(&self) -> Option<&'static GraphMemory> {
        emulator().graph_memory.get(self.device as usize)
    }
}

/// How much memory the allocation nodes of a device hold.
#[derive(Debug, Default)]
pub(in crate::driver) struct GraphMemory {
    used: AtomicU64,
    high: AtomicU64,
}

impl GraphMemory {
    fn charge(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.high.fetch_max(used, Ordering::Relaxed);
    }

    fn refund(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn reset_mark(&self) {
        self.high.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// All that is held is in use: graphs keep nothing for later.
    pub(super) fn attribute(&self, attribute: CUgraphMem_attribute) -> Answer<u64> {
        use CUgraphMem_attribute as A;

        match attribute {
            A::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT | A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT => {
                Ok(self.used.load(Ordering::Relaxed))
            }
            A::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH | A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => {
                Ok(self.high.load(Ordering::Relaxed))
            }
            _ => Err(INVALID_VALUE),
        }
    }
}

// SAFETY: the pointers in the parameters are handed back to the client and not used.
unsafe impl Send for Allocated {}
// SAFETY: as above.
unsafe impl Sync for Allocated {}

impl Drop for Allocated {
    fn drop(&mut self) {
        // Gone already if its context is.
        let _ = emulator().memory.free(self.region.base);
        if let Some(memory) = self.memory() {
            memory.refund(self.region.len);
        }
    }
}

impl NodeKind {
    /// An allocation of device memory, and its address.
    pub(in crate::driver) fn allocation(context: &Context, bytes: usize) -> Answer<(u64, Self)> {
        let mut params = CUDA_MEM_ALLOC_NODE_PARAMS_v1 {
            poolProps: CUmemPoolProps {
                allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
                location: CUmemLocation {
                    type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                    id: context.device,
                },
                ..CUmemPoolProps::zeroed()
            },
            bytesize: bytes,
            ..CUDA_MEM_ALLOC_NODE_PARAMS_v1::zeroed()
        };
        let kind = alloc_kind(context, &mut params)?;
        Ok((params.dptr, kind))
    }

    pub(in crate::driver) fn type_of(&self) -> CUgraphNodeType {
        match self {
            Self::Empty => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY,
            Self::Kernel(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL,
            Self::Copy(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY,
            Self::Fill(..) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET,
            Self::Host(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
            Self::Child(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
            Self::Record(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            Self::Wait(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            Self::Alloc(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            Self::Free(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE,
            Self::Conditional(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        }
    }

    /// Runs it, as part of an operation of a stream.
    pub(super) fn run(&self, context: &Arc<Context>, ticket: Ticket) -> Answer {
        match self {
            Self::Kernel(node) => node.launch.run(context),
            Self::Copy(node) => node.copy.as_ref().map_or(Ok(()), Copy::run),
            Self::Fill(Some(fill), _) => fill.run(),
            Self::Host(host) => {
                let call = HostCall { function: host.fn_, data: host.userData };
                Operation::Host(call).run(context, ticket)
            }
            Self::Record(event) => {
                event.note_recorded(ticket);
                event.stamp(ticket);
                Ok(())
            }
            // What a wait waits for was issued before the graph; memory nodes mark life times only; an
            // executable graph runs the graphs in it itself.
            Self::Empty
            | Self::Fill(None, _)
            | Self::Wait(_)
            | Self::Alloc(_)
            | Self::Free(_)
            | Self::Child(_)
            | Self::Conditional(_) => Ok(()),
        }
    }

    /// The node that does what an operation of a stream would have done.
    pub(super) fn from_operation(operation: Operation) -> Answer<Self> {
        Ok(match operation {
            Operation::Marker => Self::Empty,
            Operation::Launch(launch) => {
                let module = &launch.function.module;
                let kernels = module.program.kernels();
                let same = |kernel: &Arc<_>| Arc::ptr_eq(kernel, &launch.function.kernel);
                let index = kernels.iter().position(same).ok_or(INVALID_VALUE)?;
                let handle = CUfunction::from_addr(module.function(index)?);
                Self::Kernel(Arc::new(KernelNode::new(launch, handle)))
            }
            Operation::Copy(copy) => {
                let described = copy.describe();
                Self::Copy(Box::new(CopyNode { copy: Some(copy), params: described }))
            }
            Operation::Fill(fill) => {
                let described = fill.describe();
                Self::Fill(Some(fill), described)
            }
            Operation::Record(event) => Self::Record(event),
            Operation::Host(HostCall { function, data }) => {
                Self::Host(CUDA_HOST_NODE_PARAMS { fn_: function, userData: data })
            }
            Operation::Free(address) => Self::Free(address),
            Operation::Graph(_) | Operation::Callback(_) | Operation::Value(_) => {
                return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            }
        })
    }
}

/// The structures for kernels differ in their last fields only.
macro_rules! kernel_kind {
    ($params:expr) => {{
        let params = $params;
        let context = current_context()?;
        let function = Function::find_in(params.func, &context)?;
        let shape = LaunchShape {
            grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
            block: [params.blockDimX, params.blockDimY, params.blockDimZ],
            dynamic_shared: params.sharedMemBytes,
            cooperative: false,
        };
        let arguments = pack_params(&function, params.kernelParams, params.extra)?;
        let launch = Launch::new(function, shape, arguments)?;
        NodeKind::Kernel(Arc::new(KernelNode::new(launch, params.func)))
    }};
}

fn current_context() -> Answer<Arc<Context>> {
    let context = super::super::context::current();
    let context = context.ok_or(super::super::call::INVALID_CONTEXT)?;
    context.check()?;
    Ok(context)
}

pub(super) fn copy_kind(params: CUDA_MEMCPY3D) -> Answer<NodeKind> {
    Ok(NodeKind::Copy(Box::new(CopyNode { copy: copy::from_3d(&params)?, params })))
}

pub(super) fn fill_kind(params: CUDA_MEMSET_NODE_PARAMS) -> Answer<NodeKind> {
    let element = Element::new(params.value, u64::from(params.elementSize))?;
    let (width, rows) = (params.width as u64, params.height as u64);
    let fill = Fill::new(params.dst, params.pitch as u64, element, width, rows)?;
    Ok(NodeKind::Fill(fill, params))
}

fn host_kind(params: CUDA_HOST_NODE_PARAMS) -> Answer<NodeKind> {
    ensure(params.fn_.is_some(), INVALID_VALUE)?;
    Ok(NodeKind::Host(params))
}

fn child_kind(graph: CUgraph) -> Answer<NodeKind> {
    Ok(NodeKind::Child(Graph::find(graph)?.duplicate(Owner::ChildNode)?))
}

pub(super) fn record_kind(event: CUevent) -> Answer<NodeKind> {
    Ok(NodeKind::Record(Event::find(event)?))
}

pub(super) fn wait_kind(event: CUevent) -> Answer<NodeKind> {
    Ok(NodeKind::Wait(Event::find(event)?))
}

/// Allocates; the address goes into the parameters.
fn alloc_kind(context: &Context, params: &mut CUDA_MEM_ALLOC_NODE_PARAMS_v1) -> Answer<NodeKind> {
    let region = allocate_in(context, params.bytesize, RegionKind::Pooled, 0)?;
    params.dptr = region.base;
    let allocated = Allocated { region, device: context.device, params: *params };
    if let Some(memory) = allocated.memory() {
        memory.charge(allocated.region.len);
    }
    Ok(NodeKind::Alloc(Arc::new(allocated)))
}

fn free_kind(address: u64) -> Answer<NodeKind> {
    let region = emulator().memory.find(address).ok_or(INVALID_VALUE)?;
    ensure(region.base == address, INVALID_VALUE)?;
    Ok(NodeKind::Free(address))
}

/// The node that the structure for all kinds describes.
fn any_kind(params: InMut<CUgraphNodeParams>) -> Answer<NodeKind> {
    use CUgraphNodeType as T;

    let params = params.input().get()?;
    let kind = &params.u;
    macro_rules! member {
        ($name:ident) => {{
            // SAFETY: the type says that this member was set; all members are plain data.
            unsafe { kind.$name }
        }};
    }
    match params.type_ {
        T::CU_GRAPH_NODE_TYPE_EMPTY => Ok(NodeKind::Empty),
        T::CU_GRAPH_NODE_TYPE_KERNEL => Ok(kernel_kind!(member!(kernel))),
        T::CU_GRAPH_NODE_TYPE_MEMCPY => copy_kind(member!(memcpy).copyParams),
        T::CU_GRAPH_NODE_TYPE_MEMSET => {
            let fill = member!(memset);
            fill_kind(CUDA_MEMSET_NODE_PARAMS {
                dst: fill.dst,
                pitch: fill.pitch,
                value: fill.value,
                elementSize: fill.elementSize,
                width: fill.width,
                height: fill.height,
            })
        }
        T::CU_GRAPH_NODE_TYPE_HOST => {
            let host = member!(host);
            host_kind(CUDA_HOST_NODE_PARAMS { fn_: host.fn_, userData: host.userData })
        }
        T::CU_GRAPH_NODE_TYPE_GRAPH => child_kind(member!(graph).graph),
        T::CU_GRAPH_NODE_TYPE_EVENT_RECORD => record_kind(member!(eventRecord).event),
        T::CU_GRAPH_NODE_TYPE_WAIT_EVENT => wait_kind(member!(eventWait).event),
        T::CU_GRAPH_NODE_TYPE_MEM_FREE => free_kind(member!(free).dptr),
        known if known.name().is_some() => Err(NOT_SUPPORTED),
        _ => Err(INVALID_VALUE),
    }
}

/// An allocation by the structure for all kinds, into which the address goes.
fn any_alloc(out: Out<CUgraphNodeParams>) -> Answer<NodeKind> {
    let mut params = out.get()?;
    // SAFETY: the caller has looked at the type.
    let wanted = unsafe { params.u.alloc };
    let mut plain = CUDA_MEM_ALLOC_NODE_PARAMS_v1 {
        poolProps: wanted.poolProps,
        accessDescs: wanted.accessDescs,
        accessDescCount: wanted.accessDescCount,
        bytesize: wanted.bytesize,
        dptr: 0,
    };
    let kind = alloc_kind(&*current_context()?, &mut plain)?;
    params.u.alloc.dptr = plain.dptr;
    out.set(params)?;
    Ok(kind)
}

/// A node in the structure for all kinds.
fn any_params(node: &Node) -> Answer<CUgraphNodeParams> {
    let mut params = CUgraphNodeParams::zeroed();
    let kind = node.kind();
    params.type_ = kind.type_of();
    match &*kind {
        NodeKind::Empty => {}
        NodeKind::Kernel(kernel) => params.u.kernel = kernel.params(),
        NodeKind::Copy(copy) => params.u.memcpy.copyParams = copy.params,
        NodeKind::Fill(_, fill) => {
            params.u.memset = CUDA_MEMSET_NODE_PARAMS_v2 {
                dst: fill.dst,
                pitch: fill.pitch,
                value: fill.value,
                elementSize: fill.elementSize,
                width: fill.width,
                height: fill.height,
                ..CUDA_MEMSET_NODE_PARAMS_v2::zeroed()
            }
        }
        NodeKind::Host(host) => {
            params.u.host = CUDA_HOST_NODE_PARAMS_v2 {
                fn_: host.fn_,
                userData: host.userData,
                ..CUDA_HOST_NODE_PARAMS_v2::zeroed()
            }
        }
        NodeKind::Child(graph) => params.u.graph.graph = CUgraph::from_addr(graph.handle),
        NodeKind::Record(event) => params.u.eventRecord.event = event_handle(event),
        NodeKind::Wait(event) => params.u.eventWait.event = event_handle(event),
        NodeKind::Alloc(memory) => {
            params.u.alloc = CUDA_MEM_ALLOC_NODE_PARAMS_v2 {
                poolProps: memory.params.poolProps,
                accessDescs: memory.params.accessDescs,
                accessDescCount: memory.params.accessDescCount,
                bytesize: memory.params.bytesize,
                dptr: memory.params.dptr,
            }
        }
        NodeKind::Free(address) => params.u.free.dptr = *address,
        NodeKind::Conditional(conditional) => params.u.conditional = conditional.params(),
    }
    Ok(params)
}

/// A conditional node by the structure for all kinds, into which its graphs go.
fn any_conditional(graph: CUgraph, out: Out<CUgraphNodeParams>) -> Answer<NodeKind> {
    let mut params = out.get()?;
    // SAFETY: the caller has looked at the type.
    let wanted = unsafe { params.u.conditional };
    let conditional = Conditional::new(&*Graph::find(graph)?, &wanted)?;
    params.u.conditional.phGraph_out = conditional.handles();
    out.set(params)?;
    Ok(NodeKind::Conditional(Arc::new(conditional)))
}

/// Adds a node to a graph.
fn add(
    out: Out<CUgraphNode>,
    graph: CUgraph,
    after: In<CUgraphNode>,
    count: usize,
    kind: impl FnOnce() -> Answer<NodeKind>,
) -> Answer {
    out.check()?;
    let graph = Graph::find(graph)?;
    let after = after.get_all(count)?;
    let after: Vec<usize> = after.into_iter().map(Handle::addr).collect();
    put_handle(out, graph.add(&after, kind()?)?)
}

fn add_any(
    out: Out<CUgraphNode>,
    graph: CUgraph,
    after: In<CUgraphNode>,
    count: usize,
    params: InMut<CUgraphNodeParams>,
) -> Answer {
    add(out, graph, after, count, || match params.input().get()?.type_ {
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC => any_alloc(params.output()),
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => any_conditional(graph, params.output()),
        _ => any_kind(params),
    })
}

/// Changes a node of an executable graph.
fn set_in(exec: CUgraphExec, node: CUgraphNode, kind: NodeKind) -> Answer {
    Steps::find(exec)?.replace(node.addr(), kind)
}

/// Reads the parameters that a node of some kind was made with.
macro_rules! read_kind {
    ($node:expr, $pattern:pat => $value:expr) => {
        match &*Node::find($node)?.kind() {
            $pattern => $value,
            _ => return Err(INVALID_VALUE),
        }
    };
}

fn event_handle(event: &Event) -> CUevent {
    CUevent::from_addr(event.handle)
}

calls! {
    fn cuGraphAddEmptyNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || Ok(NodeKind::Empty))
    }

    fn cuGraphAddKernelNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        nodeParams: In<CUDA_KERNEL_NODE_PARAMS_v1>,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || {
            Ok(kernel_kind!(nodeParams.get()?))
        })
    }

    fn cuGraphAddKernelNode_v2(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        nodeParams: In<CUDA_KERNEL_NODE_PARAMS>,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || {
            Ok(kernel_kind!(nodeParams.get()?))
        })
    }

    fn cuGraphKernelNodeGetParams(
        _call,
        hNode: CUgraphNode,
        nodeParams: Out<CUDA_KERNEL_NODE_PARAMS_v1>,
    ) {
        let params = kernel_of(hNode)?.params();
        nodeParams.set(CUDA_KERNEL_NODE_PARAMS_v1 {
            func: params.func,
            gridDimX: params.gridDimX,
            gridDimY: params.gridDimY,
            gridDimZ: params.gridDimZ,
            blockDimX: params.blockDimX,
            blockDimY: params.blockDimY,
            blockDimZ: params.blockDimZ,
            sharedMemBytes: params.sharedMemBytes,
            kernelParams: params.kernelParams,
            extra: params.extra,
        })
    }

    fn cuGraphKernelNodeSetParams(
        _call,
        hNode: CUgraphNode,
        nodeParams: In<CUDA_KERNEL_NODE_PARAMS_v1>,
    ) {
        Node::find(hNode)?.replace(kernel_kind!(nodeParams.get()?))
    }

    fn cuGraphKernelNodeGetParams_v2(
        _call,
        hNode: CUgraphNode,
        nodeParams: Out<CUDA_KERNEL_NODE_PARAMS>,
    ) {
        nodeParams.set(kernel_of(hNode)?.params())
    }

    fn cuGraphKernelNodeSetParams_v2(
        _call,
        hNode: CUgraphNode,
        nodeParams: In<CUDA_KERNEL_NODE_PARAMS>,
    ) {
        Node::find(hNode)?.replace(kernel_kind!(nodeParams.get()?))
    }

    fn cuGraphExecKernelNodeSetParams_v2(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: In<CUDA_KERNEL_NODE_PARAMS>,
    ) {
        set_in(hGraphExec, hNode, kernel_kind!(nodeParams.get()?))
    }

    fn cuGraphExecKernelNodeSetParams(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: In<CUDA_KERNEL_NODE_PARAMS_v1>,
    ) {
        set_in(hGraphExec, hNode, kernel_kind!(nodeParams.get()?))
    }

    fn cuGraphKernelNodeGetAttribute(
        _call,
        hNode: CUgraphNode,
        attr: CUlaunchAttributeID,
        value_out: Out<CUlaunchAttributeValue>,
    ) {
        value_out.check()?;
        value_out.set(kernel_of(hNode)?.attribute(attr)?)
    }

    fn cuGraphKernelNodeSetAttribute(
        _call,
        hNode: CUgraphNode,
        attr: CUlaunchAttributeID,
        value: In<CUlaunchAttributeValue>,
    ) {
        let changed = kernel_of(hNode)?.with_attribute(attr, &value.get()?)?;
        Node::find(hNode)?.replace(NodeKind::Kernel(Arc::new(changed)))
    }

    fn cuGraphKernelNodeCopyAttributes(_call, dst: CUgraphNode, src: CUgraphNode) {
        let (source, mut changed) = (kernel_of(src)?, kernel_of(dst)?);
        for attribute in [
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY,
        ] {
            changed = Arc::new(changed.with_attribute(attribute, &source.attribute(attribute)?)?);
        }
        Node::find(dst)?.replace(NodeKind::Kernel(changed))
    }

    fn cuGraphAddMemcpyNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        copyParams: In<CUDA_MEMCPY3D>,
        _ctx: CUcontext,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || copy_kind(copyParams.get()?))
    }

    fn cuGraphMemcpyNodeGetParams(_call, hNode: CUgraphNode, nodeParams: Out<CUDA_MEMCPY3D>) {
        nodeParams.set(read_kind!(hNode, NodeKind::Copy(node) => node.params))
    }

    fn cuGraphMemcpyNodeSetParams(_call, hNode: CUgraphNode, nodeParams: In<CUDA_MEMCPY3D>) {
        Node::find(hNode)?.replace(copy_kind(nodeParams.get()?)?)
    }

    fn cuGraphExecMemcpyNodeSetParams(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        copyParams: In<CUDA_MEMCPY3D>,
        _ctx: CUcontext,
    ) {
        set_in(hGraphExec, hNode, copy_kind(copyParams.get()?)?)
    }

    fn cuGraphAddMemsetNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        memsetParams: In<CUDA_MEMSET_NODE_PARAMS>,
        _ctx: CUcontext,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || fill_kind(memsetParams.get()?))
    }

    fn cuGraphMemsetNodeGetParams(
        _call,
        hNode: CUgraphNode,
        nodeParams: Out<CUDA_MEMSET_NODE_PARAMS>,
    ) {
        nodeParams.set(read_kind!(hNode, NodeKind::Fill(_, params) => *params))
    }

    fn cuGraphMemsetNodeSetParams(
        _call,
        hNode: CUgraphNode,
        nodeParams: In<CUDA_MEMSET_NODE_PARAMS>,
    ) {
        Node::find(hNode)?.replace(fill_kind(nodeParams.get()?)?)
    }

    fn cuGraphExecMemsetNodeSetParams(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        memsetParams: In<CUDA_MEMSET_NODE_PARAMS>,
        _ctx: CUcontext,
    ) {
        set_in(hGraphExec, hNode, fill_kind(memsetParams.get()?)?)
    }

    fn cuGraphAddHostNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        nodeParams: In<CUDA_HOST_NODE_PARAMS>,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || host_kind(nodeParams.get()?))
    }

    fn cuGraphHostNodeGetParams(_call, hNode: CUgraphNode, nodeParams: Out<CUDA_HOST_NODE_PARAMS>) {
        nodeParams.set(read_kind!(hNode, NodeKind::Host(params) => *params))
    }

    fn cuGraphHostNodeSetParams(_call, hNode: CUgraphNode, nodeParams: In<CUDA_HOST_NODE_PARAMS>) {
        Node::find(hNode)?.replace(host_kind(nodeParams.get()?)?)
    }

    fn cuGraphExecHostNodeSetParams(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: In<CUDA_HOST_NODE_PARAMS>,
    ) {
        set_in(hGraphExec, hNode, host_kind(nodeParams.get()?)?)
    }

    fn cuGraphAddChildGraphNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        childGraph: CUgraph,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || child_kind(childGraph))
    }

    fn cuGraphChildGraphNodeGetGraph(_call, hNode: CUgraphNode, phGraph: Out<CUgraph>) {
        phGraph.check()?;
        put_handle(phGraph, read_kind!(hNode, NodeKind::Child(graph) => graph.handle))
    }

    fn cuGraphExecChildGraphNodeSetParams(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        childGraph: CUgraph,
    ) {
        Steps::find(hGraphExec)?.replace_child(hNode.addr(), &*Graph::find(childGraph)?)
    }

    fn cuGraphAddEventRecordNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        event: CUevent,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || record_kind(event))
    }

    fn cuGraphEventRecordNodeGetEvent(_call, hNode: CUgraphNode, event_out: Out<CUevent>) {
        event_out.set(read_kind!(hNode, NodeKind::Record(event) => event_handle(event)))
    }

    fn cuGraphEventRecordNodeSetEvent(_call, hNode: CUgraphNode, event: CUevent) {
        Node::find(hNode)?.replace(record_kind(event)?)
    }

    fn cuGraphExecEventRecordNodeSetEvent(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        event: CUevent,
    ) {
        set_in(hGraphExec, hNode, record_kind(event)?)
    }

    fn cuGraphAddEventWaitNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        event: CUevent,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || wait_kind(event))
    }

    fn cuGraphEventWaitNodeGetEvent(_call, hNode: CUgraphNode, event_out: Out<CUevent>) {
        event_out.set(read_kind!(hNode, NodeKind::Wait(event) => event_handle(event)))
    }

    fn cuGraphEventWaitNodeSetEvent(_call, hNode: CUgraphNode, event: CUevent) {
        Node::find(hNode)?.replace(wait_kind(event)?)
    }

    fn cuGraphExecEventWaitNodeSetEvent(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        event: CUevent,
    ) {
        set_in(hGraphExec, hNode, wait_kind(event)?)
    }

    fn cuGraphAddMemAllocNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        nodeParams: Out<CUDA_MEM_ALLOC_NODE_PARAMS>,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || {
            let mut params = nodeParams.get()?;
            let kind = alloc_kind(&*current_context()?, &mut params)?;
            nodeParams.set(params)?;
            Ok(kind)
        })
    }

    fn cuGraphMemAllocNodeGetParams(
        _call,
        hNode: CUgraphNode,
        params_out: Out<CUDA_MEM_ALLOC_NODE_PARAMS>,
    ) {
        params_out.set(read_kind!(hNode, NodeKind::Alloc(memory) => memory.params))
    }

    fn cuGraphAddMemFreeNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        dptr: u64,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || free_kind(dptr))
    }

    fn cuGraphMemFreeNodeGetParams(_call, hNode: CUgraphNode, dptr_out: Out<u64>) {
        dptr_out.set(read_kind!(hNode, NodeKind::Free(address) => *address))
    }

    fn cuGraphAddNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        nodeParams: InMut<CUgraphNodeParams>,
    ) {
        add_any(phGraphNode, hGraph, dependencies, numDependencies, nodeParams)
    }

    fn cuGraphAddNode_v2(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        _dependencyData: In<CUgraphEdgeData>,
        numDependencies: usize,
        nodeParams: InMut<CUgraphNodeParams>,
    ) {
        add_any(phGraphNode, hGraph, dependencies, numDependencies, nodeParams)
    }

    fn cuGraphAddNode_v3(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        _dependencyData: In<CUgraphEdgeData>,
        numDependencies: usize,
        nodeParams: InMut<CUgraphNodeParams>,
    ) {
        add_any(phGraphNode, hGraph, dependencies, numDependencies, nodeParams)
    }

    fn cuGraphNodeGetParams(_call, hNode: CUgraphNode, nodeParams: Out<CUgraphNodeParams>) {
        nodeParams.check()?;
        nodeParams.set(any_params(&*Node::find(hNode)?)?)
    }

    fn cuGraphNodeSetParams_v2(_call, hNode: CUgraphNode, nodeParams: InMut<CUgraphNodeParams>) {
        Node::find(hNode)?.replace(any_kind(nodeParams)?)
    }

    fn cuGraphNodeSetParams(_call, hNode: CUgraphNode, nodeParams: InMut<CUgraphNodeParams>) {
        Node::find(hNode)?.replace(any_kind(nodeParams)?)
    }

    fn cuGraphExecNodeSetParams(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: InMut<CUgraphNodeParams>,
    ) {
        set_in(hGraphExec, hNode, any_kind(nodeParams)?)
    }

    fn cuGraphNodeGetType(_call, hNode: CUgraphNode, type_: Out<CUgraphNodeType>) {
        type_.check()?;
        let type_of = Node::find(hNode)?.kind().type_of();
        type_.set(type_of)
    }
}
