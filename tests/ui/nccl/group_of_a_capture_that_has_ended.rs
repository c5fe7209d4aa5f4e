// A group is called when its closure has returned: a capture has to outlive it.
use cuprum::graph::CaptureMode;
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &mut Stream<'_>, member: &Communicator, buffer: &mut Buffer<'_, f32>) {
    member
        .nccl()
        .group(|group| {
            cx.capture(stream, CaptureMode::ThreadLocal, |capture| {
                let lent = capture.lend(buffer.as_mut_slice())?;
                member.all_reduce(&group.on(capture), &lent, &lent, Reduction::Sum).unwrap();
                Ok(())
            })
            .unwrap();
            Ok(())
        })
        .unwrap();
}

fn main() {}
