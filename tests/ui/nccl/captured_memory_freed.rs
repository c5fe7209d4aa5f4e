// Memory of a captured collective is not freed before the graph and its executable are dropped.
use cuprum::graph::{CaptureMode, InstantiateFlags};
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &mut Stream<'_>, member: &Communicator, mut buffer: Buffer<'_, f32>) {
    let (graph, ()) = cx
        .capture(stream, CaptureMode::ThreadLocal, |capture| {
            let lent = capture.lend(&mut buffer)?;
            member.all_reduce(capture, &lent, &lent, Reduction::Sum).unwrap();
            Ok(())
        })
        .unwrap();
    let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
    drop(buffer);
    executable.launch(cx, stream).unwrap();
}

fn main() {}
