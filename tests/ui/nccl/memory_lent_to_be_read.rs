// A collective does not write memory that is lent to be read.
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, member: &Communicator, buffer: &Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer).unwrap();
        member.all_reduce(scope, &lent, &lent, Reduction::Sum).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
