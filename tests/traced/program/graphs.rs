//! Graphs, built node by node, and the executables made of them.

use cuprum::graph::{
    ConditionalKind, DotFlags, Graph, GraphExec, GraphMemory, InstantiateFlags, Loan, Node, UserObject,
};
use cuprum::launch::Dim3;
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{
    CUDA_EVENT_RECORD_NODE_PARAMS, CUDA_EVENT_WAIT_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEM_FREE_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUfunction, CUgraph,
    CUlaunchAttributeID,
};
use cuprum::{Buffer, Current, InOut, Kernel, LaunchConfig, Module, Stream};

use super::{Steps, code};

/// The signature of the one kernel.
type Put = (u32, InOut<u32>);

const NONE: InstantiateFlags = InstantiateFlags::empty();
const DIM: Dim3 = Dim3 { x: 1, y: 1, z: 1 };
const ONE: LaunchConfig = LaunchConfig { grid: DIM, block: DIM, shared_bytes: 0 };

/// Nodes of a graph, one of each kind.
struct Nodes {
    memory: Loan<InOut<u32>>,
    output: Loan<[u32]>,
    fill: Node,
    copy: Node,
    kernel: Node,
    host: Node,
    wait: Node,
    record: Node,
    child: Node,
}

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let device = cx.context().device();
    steps.attempt("Device::trim_graph_memory", || device.trim_graph_memory());
    let high = GraphMemory::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    steps.attempt("Device::graph_memory", || device.graph_memory(high));
    steps.attempt("Device::reset_graph_memory", || device.reset_graph_memory(high));
    let Some(stream) = steps.attempt("Stream::new", || Stream::new(cx)) else { return };
    let events = [(); 2].map(|()| steps.attempt("Event::new", || Event::new(cx, EventFlags::empty())));
    let module = steps.attempt("Module::load_ptx", || Module::load_ptx(cx, code::PTX.trim_end_matches('\0')));
    if let ([Some(one), Some(two)], Some(module)) = (&events, &module) {
        let function = steps.attempt("Module::function", || module.function("put"));
        let kernel = function.and_then(|function| steps.attempt("Function::bind", || function.bind::<Put>()));
        if let Some(kernel) = &kernel {
            every_kind(steps, cx, &stream, [one, two], kernel);
        }
    }
    edges(steps, cx);
    inside(steps, cx, &stream);
    update(steps, cx, &stream);
    steps.done("Stream::drop", || drop(stream));
    steps.done("Event::drop", || drop(events));
    steps.done("Module::drop", || drop(module));
}

/// A new graph.
fn graph<'a>(steps: &Steps, cx: &Current<'_, 'a>) -> Option<Graph<'a>> {
    steps.attempt("Graph::new", || Graph::new(cx))
}

/// A graph with a node that fills memory of its own.
fn filling<'a>(steps: &Steps, cx: &Current<'_, 'a>) -> Option<(Graph<'a>, Loan<InOut<u32>>, Node)> {
    let mut graph = graph(steps, cx)?;
    let buffer = steps.attempt("Buffer::zeroed", || Buffer::zeroed(cx, 4))?;
    let memory = steps.attempt("Graph::lend", || graph.lend(buffer))?;
    let node = steps.attempt("Graph::add_fill", || graph.add_fill(cx, &[], memory, 3u32))?;
    Some((graph, memory, node))
}

fn every_kind(
    steps: &Steps,
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    events: [&Event<'_>; 2],
    kernel: &Kernel<'_, Put>,
) {
    let Some((mut graph, memory, fill)) = filling(steps, cx) else { return };
    let nodes = added(steps, cx, (&mut graph, memory, fill), events, kernel);
    let Some(nodes) = nodes else { return steps.done("Graph::drop", || drop(graph)) };
    asked(steps, &graph, &nodes);
    if !set(steps, cx, (&mut graph, &nodes), events, kernel) {
        return steps.done("Graph::drop", || drop(graph));
    }
    let executable = steps.attempt("Graph::instantiate", || graph.instantiate(cx, NONE));
    let Some(mut executable) = executable else { return };
    let changed = changed(steps, cx, (&mut executable, &nodes), events, kernel);
    if !changed || !launched(steps, cx, stream, &mut executable) {
        return steps.done("GraphExec::drop", || drop(executable));
    }
    steps.attempt("GraphExec::view", || executable.view(nodes.output).map(drop));
    let returned = steps.attempt("GraphExec::close", || executable.close());
    steps.done("Returned::drop", || drop(returned));
}

/// Adds a node of each kind, each dependent on the one before.
fn added<'a>(
    steps: &Steps,
    cx: &Current<'_, 'a>,
    (graph, memory, fill): (&mut Graph<'a>, Loan<InOut<u32>>, Node),
    [one, two]: [&'a Event<'_>; 2],
    kernel: &'a Kernel<'_, Put>,
) -> Option<Nodes> {
    let (low, high) = (memory.slice(..2)?, memory.slice(2..)?);
    let copy = steps.attempt("Graph::add_copy", || graph.add_copy(cx, &[fill], low, high))?;
    let input = steps.attempt("Graph::lend", || graph.lend(vec![1, 2]))?;
    let output = steps.attempt("Graph::lend", || graph.lend(vec![0; 4]))?;
    let from = steps.attempt("Graph::add_copy", || graph.add_copy(cx, &[copy], low, input))?;
    let to = steps.attempt("Graph::add_copy", || graph.add_copy(cx, &[from], output, memory))?;
    // SAFETY: the kernel writes one number after the nodes above.
    let kernel = steps.attempt("Graph::add_kernel", || unsafe {
        graph.add_kernel(cx, &[to], kernel, ONE, (5u32, memory))
    })?;
    let host = steps.attempt("Graph::add_host", || graph.add_host(cx, &[kernel], || ()))?;
    let wait = steps.attempt("Graph::add_wait", || graph.add_wait(cx, &[host], one))?;
    let record = steps.attempt("Graph::add_record", || graph.add_record(cx, &[wait], two))?;
    let (inner, _, _) = filling(steps, cx)?;
    let child = steps.attempt("Graph::add_child", || graph.add_child(cx, &[record], inner))?;
    Some(Nodes { memory, output, fill, copy, kernel, host, wait, record, child })
}

fn asked(steps: &Steps, graph: &Graph<'_>, nodes: &Nodes) {
    steps.attempt("Graph::params", || graph.params::<CUDA_MEMSET_NODE_PARAMS>(nodes.fill));
    steps.attempt("Graph::params", || graph.params::<CUDA_MEMCPY3D>(nodes.copy));
    steps.attempt("Graph::params", || graph.params::<(CUfunction, LaunchConfig)>(nodes.kernel));
    steps.attempt("Graph::params", || graph.params::<CUDA_EVENT_WAIT_NODE_PARAMS>(nodes.wait));
    steps.attempt("Graph::params", || graph.params::<CUDA_EVENT_RECORD_NODE_PARAMS>(nodes.record));
    steps.attempt("Graph::params", || graph.params::<CUgraph>(nodes.child));
    steps.attempt("Graph::node_type", || graph.node_type(nodes.host));
    steps.attempt("Graph::id", || graph.id());
    steps.attempt("Graph::node_tools_id", || graph.node_tools_id(nodes.host));
    let path = std::env::temp_dir().join(format!("cuprum-{}.dot", std::process::id()));
    steps.attempt("Graph::print_dot", || graph.print_dot(&path, DotFlags::CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES));
    let _ = std::fs::remove_file(path);
}

/// Returns true if all nodes have new parameters. A failed call may have been done in part.
fn set<'a>(
    steps: &Steps,
    cx: &Current<'_, 'a>,
    (graph, nodes): (&mut Graph<'a>, &Nodes),
    [one, two]: [&'a Event<'_>; 2],
    kernel: &'a Kernel<'_, Put>,
) -> bool {
    let memory = nodes.memory;
    let parts = (memory.slice(..2), memory.slice(2..));
    let (Some(low), Some(high)) = parts else { return false };
    let priority = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    let value = steps.attempt("Graph::kernel_attribute", || graph.kernel_attribute(nodes.kernel, priority));
    if let Some(value) = value {
        // SAFETY: the value that it has.
        steps.attempt("Graph::set_kernel_attribute", || unsafe {
            graph.set_kernel_attribute(nodes.kernel, priority, &value)
        });
    }
    let all = [
        steps.attempt("NodeSetter::fill", || graph.set(cx, nodes.fill).fill(low, 7)),
        steps.attempt("NodeSetter::copy", || graph.set(cx, nodes.copy).copy(high, low)),
        // SAFETY: as when it was added.
        steps.attempt("NodeSetter::kernel", || unsafe {
            graph.set(cx, nodes.kernel).kernel(kernel, ONE, (6u32, memory))
        }),
        steps.attempt("NodeSetter::host", || graph.set(cx, nodes.host).host(|| ())),
        steps.attempt("NodeSetter::wait", || graph.set(cx, nodes.wait).wait(two)),
        steps.attempt("NodeSetter::record", || graph.set(cx, nodes.record).record(one)),
    ];
    all.iter().all(Option::is_some)
}

/// As `set`, of an executable.
fn changed<'a>(
    steps: &Steps,
    cx: &Current<'_, 'a>,
    (executable, nodes): (&mut GraphExec<'a>, &Nodes),
    [one, two]: [&'a Event<'_>; 2],
    kernel: &'a Kernel<'_, Put>,
) -> bool {
    let memory = nodes.memory;
    let parts = (memory.slice(..2), memory.slice(2..));
    let (Some(low), Some(high)) = parts else { return false };
    let all = [
        steps.attempt("NodeSetter::fill", || executable.set(cx, nodes.fill).fill(high, 7)),
        steps.attempt("NodeSetter::copy", || executable.set(cx, nodes.copy).copy(low, high)),
        // SAFETY: as when it was added.
        steps.attempt("NodeSetter::kernel", || unsafe {
            executable.set(cx, nodes.kernel).kernel(kernel, ONE, (6u32, memory))
        }),
        steps.attempt("NodeSetter::host", || executable.set(cx, nodes.host).host(|| ())),
        steps.attempt("NodeSetter::wait", || executable.set(cx, nodes.wait).wait(one)),
        steps.attempt("NodeSetter::record", || executable.set(cx, nodes.record).record(two)),
        steps.attempt("GraphExec::set_enabled", || executable.set_enabled(cx, nodes.fill, false)),
    ];
    steps.attempt("GraphExec::is_enabled", || executable.is_enabled(cx, nodes.fill));
    steps.attempt("GraphExec::id", || executable.id());
    steps.attempt("GraphExec::nodes", || executable.nodes(cx));
    let child = filling(steps, cx).and_then(|(inner, _, _)| {
        steps.attempt("GraphExec::set_child", || executable.set_child(cx, nodes.child, inner))
    });
    child.is_some() && all.iter().all(Option::is_some)
}

/// True if all that was launched was waited for.
fn launched(
    steps: &Steps,
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    executable: &mut GraphExec<'_>,
) -> bool {
    steps.attempt("GraphExec::upload", || executable.upload(cx, stream));
    let replayed = steps.attempt("Current::scope", || {
        cx.scope(stream, |scope| {
            if let Some(graph) = steps.attempt("Scope::lend_graph", || scope.lend_graph(executable)) {
                steps.attempt("LentGraph::launch", || graph.launch());
            }
            Ok(())
        })
    });
    let queued = replayed.and_then(|()| {
        // SAFETY: the emulator is done when the call returns.
        steps.attempt("GraphExec::launch_unwaited", || unsafe { executable.launch_unwaited(cx, stream) });
        steps.attempt("Stream::synchronize", || stream.synchronize(cx))
    });
    queued.and_then(|()| steps.attempt("GraphExec::launch", || executable.launch(cx, stream))).is_some()
}

fn edges(steps: &Steps, cx: &Current<'_, '_>) {
    let Some(mut graph) = graph(steps, cx) else { return };
    let nodes = [(); 2].map(|()| steps.attempt("Graph::add_empty", || graph.add_empty(cx, &[])));
    if let [Some(a), Some(b)] = nodes {
        let added = steps.attempt("Graph::add_edges", || graph.add_edges(cx, &[(a, b)]));
        steps.attempt("Graph::edges", || graph.edges(cx));
        steps.attempt("Graph::nodes", || graph.nodes(cx));
        // SAFETY: neither of the two is run.
        let copy = steps.attempt("Graph::clone_graph", || unsafe { graph.clone_graph(cx) });
        if let Some(mut copy) = copy {
            steps.attempt("Graph::find_in_clone", || graph.find_in_clone(a, &mut copy));
            steps.attempt("Graph::close", || copy.close());
        }
        if added.is_some() {
            steps.attempt("Graph::remove_edges", || graph.remove_edges(cx, &[(a, b)]));
        }
        steps.attempt("Graph::remove", || graph.remove(cx, b));
    }
    user_objects(steps, cx, &mut graph);
    steps.done("Graph::drop", || drop(graph));
}

fn user_objects(steps: &Steps, cx: &Current<'_, '_>, graph: &mut Graph<'_>) {
    let driver = cx.context().driver();
    let Some(object) = steps.attempt("UserObject::new", || UserObject::new(driver, 1)) else { return };
    if steps.attempt("Graph::retain", || graph.retain(&object)).is_some() {
        steps.attempt("Graph::release", || graph.release(&object));
    }
    if let Some(shared) = steps.attempt("UserObject::share", || object.share()) {
        steps.attempt("UserObject::close", || shared.close());
    }
    steps.done("UserObject::drop", || drop(object));
}

/// Memory of a graph, and bodies.
fn inside(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let Some(mut graph) = graph(steps, cx) else { return };
    let built = bodies(steps, cx, &mut graph).and_then(|last| memory(steps, cx, &mut graph, last));
    if built.is_none() {
        return steps.done("Graph::drop", || drop(graph));
    }
    let made = steps.attempt("Graph::instantiate_on", || graph.instantiate_on(cx, stream, NONE));
    let Some(mut executable) = made else { return };
    steps.attempt("GraphExec::launch", || executable.launch(cx, stream));
    steps.done("GraphExec::drop", || drop(executable));
}

fn bodies(steps: &Steps, cx: &Current<'_, '_>, graph: &mut Graph<'_>) -> Option<Node> {
    let condition =
        |graph: &mut Graph<'_>| steps.attempt("Graph::condition", || graph.condition(cx, Some(0)));
    let (a, b) = (condition(graph)?, condition(graph)?);
    let (c, d) = (condition(graph)?, condition(graph)?);
    let (one, _) = steps.attempt("Graph::add_conditional", || {
        graph.add_conditional::<1>(cx, &[], a, ConditionalKind::CU_GRAPH_COND_TYPE_IF)
    })?;
    let (two, [_, no]) = steps.attempt("Graph::add_conditional", || {
        graph.add_conditional(cx, &[one], b, ConditionalKind::CU_GRAPH_COND_TYPE_IF)
    })?;
    let (three, _) = steps.attempt("Graph::add_conditional", || {
        graph.add_conditional::<1>(cx, &[two], c, ConditionalKind::CU_GRAPH_COND_TYPE_WHILE)
    })?;
    let (four, _) = steps.attempt("Graph::add_conditional", || {
        graph.add_conditional::<2>(cx, &[three], d, ConditionalKind::CU_GRAPH_COND_TYPE_SWITCH)
    })?;
    graph
        .within(no, |graph| {
            steps.attempt("Graph::add_empty", || graph.add_empty(cx, &[]));
            Ok(())
        })
        .ok()?;
    Some(four)
}

fn memory(steps: &Steps, cx: &Current<'_, '_>, graph: &mut Graph<'_>, after: Node) -> Option<Node> {
    // SAFETY: nothing uses it.
    let (alloc, scratch) =
        steps.attempt("Graph::add_alloc", || unsafe { graph.add_alloc::<u32>(cx, &[after], 8) })?;
    steps.attempt("Graph::params", || graph.params::<CUDA_MEM_ALLOC_NODE_PARAMS>(alloc));
    let free = steps.attempt("Graph::add_free", || graph.add_free(cx, &[alloc], scratch))?;
    steps.attempt("Graph::params", || graph.params::<CUDA_MEM_FREE_NODE_PARAMS>(free));
    Some(free)
}

fn update(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let graphs = [(); 3].map(|()| filling(steps, cx));
    let [Some((graph, ..)), Some((second, ..)), Some((third, ..))] = graphs else { return };
    let made = steps.attempt("Graph::instantiate", || graph.instantiate(cx, NONE));
    let Some(mut executable) = made else {
        return steps.done("Graph::drop", || drop((second, third)));
    };
    steps.attempt("GraphExec::update", || executable.update(cx, second));
    steps.attempt("GraphExec::update", || executable.update(cx, third));
    steps.attempt("GraphExec::launch", || executable.launch(cx, stream));
    steps.done("GraphExec::drop", || drop(executable));
}
