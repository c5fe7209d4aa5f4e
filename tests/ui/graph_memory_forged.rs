// Only this crate defines memory that a graph can be lent: other memory could be at any address.
use cuprum::graph::Graph;

struct Evil;

fn wrong(graph: &mut Graph<'static>) {
    graph.lend(Evil).unwrap();
}

fn main() {}
