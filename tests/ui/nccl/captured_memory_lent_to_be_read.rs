// A captured collective does not write memory that is lent to be read.
use cuprum::graph::CaptureMode;
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &mut Stream<'_>, member: &Communicator, buffer: &Buffer<'_, f32>) {
    cx.capture(stream, CaptureMode::ThreadLocal, |capture| {
        let lent = capture.lend(buffer)?;
        member.all_reduce(capture, &lent, &lent, Reduction::Sum).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
