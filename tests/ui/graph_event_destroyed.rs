// An event that a graph records is not destroyed before the graph is dropped.
use cuprum::graph::Graph;
use cuprum::stream::Event;
use cuprum::Current;

fn wrong(cx: &Current<'_, '_>, event: Event<'_>) {
    let mut graph = Graph::new(cx).unwrap();
    graph.add_record(cx, &[], &event).unwrap();
    event.close().unwrap();
    graph.close().unwrap();
}

fn main() {}
