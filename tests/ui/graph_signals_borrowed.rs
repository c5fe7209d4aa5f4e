// A graph has a share of signals: a borrow could end under a replay that is not waited for.
use cuprum::graph::Graph;
use cuprum::stream::Signals;

fn wrong(graph: &mut Graph<'_>, signals: Signals<'_, u32>) {
    graph.lend(&signals).unwrap();
}

fn main() {}
