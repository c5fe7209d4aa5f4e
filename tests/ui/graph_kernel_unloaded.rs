// A kernel that a graph launches is not unloaded before the graph is dropped.
use cuprum::graph::Graph;
use cuprum::{Current, LaunchConfig, Module};

fn wrong(cx: &Current<'_, '_>, module: Module<'_>) {
    let kernel = module.function("k").unwrap().bind::<()>().unwrap();
    let mut graph = Graph::new(cx).unwrap();
    // SAFETY: it is not launched.
    unsafe { graph.add_kernel(cx, &[], &kernel, LaunchConfig::new(1, 1), ()) }.unwrap();
    module.close().unwrap();
    graph.close().unwrap();
}

fn main() {}
