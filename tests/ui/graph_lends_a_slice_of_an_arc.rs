// A slice of an `Arc` is a borrow, which a graph that outlives it cannot have: it is lent a `Part`,
// which holds a share.
use std::sync::Arc;

use cuprum::graph::{CaptureMode, GraphExec, InstantiateFlags};
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, 'static>, stream: &mut Stream<'static>, model: Vec<Buffer<'static, f32>>) -> GraphExec<'static> {
    let model = Arc::new(model);
    let (graph, _) = cx
        .capture(stream, CaptureMode::ThreadLocal, |capture| capture.lend(model[0].as_slice()))
        .unwrap();
    graph.instantiate(cx, InstantiateFlags::empty()).unwrap()
}

fn main() {}
