// A function of the host that a graph calls borrows nothing of the caller.
use cuprum::graph::Graph;
use cuprum::Current;

fn wrong(cx: &Current<'_, '_>, graph: &mut Graph<'_>) {
    let mut count = 0;
    graph.add_host(cx, &[], || count += 1).unwrap();
}

fn main() {}
