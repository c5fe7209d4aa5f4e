// A semaphore that a graph has a share of keeps its context, also where that is another than the
// graph's.
use std::sync::Arc;

use cuprum::external::ExternalSemaphore;
use cuprum::graph::Graph;
use cuprum::context::{Context, ContextStack};
use cuprum::Current;

fn wrong(
    one: Context,
    other: Context,
    stack: &mut ContextStack,
    import: impl for<'c> Fn(&Current<'_, 'c>) -> ExternalSemaphore<'c>,
) {
    let mut cx = stack.push(&one).unwrap();
    let mut graph = Graph::new(&cx).unwrap();
    let inner = cx.push(&other).unwrap();
    let _refused = graph.lend(Arc::new(import(&inner)));
    inner.pop().unwrap();
    drop(other);
    drop(graph);
}

fn main() {}
