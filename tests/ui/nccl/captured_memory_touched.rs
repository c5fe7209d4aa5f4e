// Memory of a captured collective is reached through the graph alone.
use cuprum::graph::{CaptureMode, InstantiateFlags};
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &mut Stream<'_>, member: &Communicator, buffer: &mut Buffer<'_, f32>) {
    let (graph, ()) = cx
        .capture(stream, CaptureMode::ThreadLocal, |capture| {
            let lent = capture.lend(buffer.as_mut_slice())?;
            member.all_reduce(capture, &lent, &lent, Reduction::Sum).unwrap();
            Ok(())
        })
        .unwrap();
    let mut executable = graph.instantiate(cx, InstantiateFlags::empty()).unwrap();
    cx.fill(buffer, 0.0).unwrap();
    executable.launch(cx, stream).unwrap();
}

fn main() {}
