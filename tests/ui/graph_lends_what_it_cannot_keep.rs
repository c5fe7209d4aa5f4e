// A graph is lent device memory, and owns its memory of the host: a borrow of that could end under
// a launch that failed.
use cuprum::PinnedBuffer;
use cuprum::graph::Graph;

fn host_slice<'a>(graph: &mut Graph<'a>, host: &'a mut [f32]) {
    graph.lend(host).unwrap();
}

fn pinned<'a>(graph: &mut Graph<'a>, host: &'a mut PinnedBuffer<'_, f32>) {
    graph.lend(host).unwrap();
}

fn main() {}
