// A collective uses no memory that is not lent.
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, member: &Communicator, buffer: &mut Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        member.all_reduce(scope, buffer, buffer, Reduction::Sum).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
