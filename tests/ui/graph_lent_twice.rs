// An executable graph is lent to a scope once: two launches of it that nothing orders would use its
// memory together.
use cuprum::graph::GraphExec;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, [one, other]: [&Stream<'_>; 2], exec: &mut GraphExec<'_>) {
    cx.multi_scope(|scope| {
        let first = scope.on(one).unwrap().lend_graph(exec).unwrap();
        let second = scope.on(other).unwrap().lend_graph(exec).unwrap();
        first.launch().unwrap();
        second.launch().unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
