// Adding a kernel to a graph is unsafe, as launching it is.
use cuprum::graph::Graph;
use cuprum::{Current, Kernel, LaunchConfig};

fn wrong<'a>(cx: &Current<'_, 'a>, graph: &mut Graph<'a>, kernel: &'a Kernel<'a, ()>) {
    graph.add_kernel(cx, &[], kernel, LaunchConfig::new(1, 1), ()).unwrap();
}

fn main() {}
