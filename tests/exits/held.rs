//! One of each kind of object, for processes that end with them alive.

use std::sync::Arc;

use cuprum::context::ContextStack;
use cuprum::graph::{Graph, GraphExec, InstantiateFlags, UserObject};
use cuprum::memory::{RegisterFlags, Registered};
use cuprum::stream::{Event, EventFlags, Pending, Reached};
use cuprum::{Buffer, ContextRef, Current, Module, Stream};

use crate::cases::saxpy;
use crate::memory::{Memory, semaphore};
use crate::pending::{Slot, pending};
use crate::pooled::Pooled;
use crate::regions::Regions;

/// A graph with memory and a function of its own, and a value that the driver drops, which has run.
fn graph<'ctx>(cx: &Current<'_, 'ctx>, stream: &Stream<'_>) -> GraphExec<'ctx> {
    let mut graph = Graph::new(cx).unwrap();
    let memory = graph.lend(Buffer::alloc(cx, 1 << 10).unwrap()).unwrap();
    let node = graph.add_fill(cx, &[], memory, 1u32).unwrap();
    graph.add_host(cx, &[node], || ()).unwrap();
    if let Some(semaphore) = semaphore(cx) {
        let semaphore = graph.lend(Arc::new(semaphore)).unwrap();
        graph.add_semaphore_waits(cx, &[], &[(semaphore, 0)]).unwrap();
    }
    graph.retain(&UserObject::new(cx.context().driver(), vec![1]).unwrap()).unwrap();
    let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
    executable.launch(cx, stream).unwrap();
    executable
}

/// One of each kind of object, with work queued.
pub(crate) struct Held {
    pub(crate) buffer: Buffer<'static, u32>,
    _event: Event<'static>,
    _module: Module<'static>,
    _code: crate::code::Held,
    _graph: GraphExec<'static>,
    _pooled: Pooled,
    _regions: Regions,
    pub(crate) stream: Stream<'static>,
    _memory: Memory<'static>,
    _registered: Registered<'static, Vec<u32>>,
    _reached: Reached<'static>,
    _pending: Pending<Slot>,
}

impl Held {
    pub(crate) fn new(context: &'static ContextRef) -> Self {
        let mut stack = ContextStack::take().unwrap();
        let cx = stack.push(context).unwrap();
        let mut buffer = Buffer::alloc(&cx, 1 << 20).unwrap();
        cx.fill(&mut buffer, 1).unwrap();
        let (stream, event) = (Stream::new(&cx).unwrap(), Event::new(&cx, EventFlags::empty()).unwrap());
        event.record(&cx, &stream).unwrap();
        let _registered = Registered::new(&cx, vec![1; 100], RegisterFlags::empty()).unwrap();
        let (_pending, _reached) = (pending(&cx, &stream), stream.reached(&cx).unwrap());
        let (_module, _graph, _pooled) = (saxpy(&cx), graph(&cx, &stream), Pooled::new(&cx));
        let _code = crate::code::Held::new(&cx);
        Self {
            buffer,
            _event: event,
            _module,
            _code,
            _graph,
            _pooled,
            _regions: Regions::new(&cx),
            stream,
            _memory: Memory::new(&cx),
            _registered,
            _reached,
            _pending,
        }
    }
}
