//! Graphs, built node by node, and the executables made of them.

use cuprum::graph::{DotFlags, Executable, Graph, GraphMemory, HostLoan, InstantiateFlags, Loan, Node, UserObject};
use cuprum::sys::CUlaunchAttributeID;
use cuprum::{Buffer, Current, Event, EventFlags, InOut, Kernel, LaunchConfig, Module, Stream};

use super::Steps;

/// A kernel that writes its first parameter where its second one points.
const PTX: &str = include_str!("../../../kernels/fill.ptx");

type Put = (u32, InOut<u32>);

const NONE: InstantiateFlags = InstantiateFlags::empty();

/// A graph with a node of each kind.
struct Built<'a> {
    graph: Graph<'a>,
    memory: Loan<u32>,
    output: HostLoan<u32>,
    fill: Node,
    copy: Node,
    kernel: Option<Node>,
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
    let module = steps.attempt("Module::load_ptx", || Module::load_ptx(cx, super::code::PUT));
    if let ([Some(one), Some(two)], Some(module)) = (&events, &module) {
        whole(steps, cx, &stream, [one, two], module);
    }
    edges(steps, cx);
    inside(steps, cx, &stream);
    update(steps, cx, &stream);
    user_objects(steps, cx);
    steps.done("Stream::drop", || drop(stream));
    steps.done("Event::drop", || drop(events));
    steps.done("Module::drop", || drop(module));
}
