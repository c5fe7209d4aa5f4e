// Memory that a graph was lent is not freed before the graph and its executable are gone.
use cuprum::graph::{CaptureMode, InstantiateFlags};
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &mut Stream<'_>, mut buffer: Buffer<'_, u32>) {
    let (graph, _) = cx
        .capture(stream, CaptureMode::Global, |capture| capture.lend(buffer.as_mut_slice()))
        .unwrap();
    let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
    drop(buffer);
    executable.run(cx, stream).unwrap();
}

fn main() {}
