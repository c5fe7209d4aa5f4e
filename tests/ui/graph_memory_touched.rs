// Memory that a graph was lent is reached through the graph alone.
use cuprum::graph::Graph;
use cuprum::{Buffer, Current};

fn wrong(cx: &Current<'_, '_>, mut buffer: Buffer<'_, u32>) {
    let mut graph = Graph::new(cx).unwrap();
    let memory = graph.lend(&mut buffer).unwrap();
    cx.fill(&mut buffer, 1).unwrap();
    graph.add_fill(cx, &[], memory, 2).unwrap();
}

fn main() {}
