// Of a shared kernel, a graph takes a share: a borrow of what it dereferences to is too short.
use cuprum::graph::Graph;
use cuprum::{Current, Kernel, LaunchConfig, SharedKernel};

fn wrong(cx: &Current<'_, 'static>, shared: SharedKernel<'static, ()>) -> Graph<'static> {
    let mut graph = Graph::new(cx).unwrap();
    let kernel: &Kernel<'static, ()> = &shared;
    // SAFETY: it is not launched.
    unsafe { graph.add_kernel(cx, &[], kernel, LaunchConfig::new(1, 1), ()) }.unwrap();
    graph
}

fn main() {}
