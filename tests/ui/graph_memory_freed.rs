// Memory lent to a graph is not freed before the graph and its executable are dropped.
use cuprum::graph::{CaptureMode, InstantiateFlags};
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &mut Stream<'_>, mut buffer: Buffer<'_, u32>) {
    let (graph, _) = cx
        .capture(stream, CaptureMode::Global, |capture| capture.lend(&mut buffer))
        .unwrap();
    let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
    drop(buffer);
    executable.launch(cx, stream).unwrap();
}

fn main() {}
