// A group is called when its closure has returned: a scope has to outlive it.
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, member: &Communicator, buffer: &mut Buffer<'_, f32>) {
    member
        .nccl()
        .group(|group| {
            cx.scope(stream, |scope| {
                let lent = scope.lend(buffer.as_mut_slice()).unwrap();
                member.all_reduce(&group.on(scope), &lent, &lent, Reduction::Sum).unwrap();
                Ok(())
            })
            .unwrap();
            Ok(())
        })
        .unwrap();
}

fn main() {}
