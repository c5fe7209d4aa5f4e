// Memory of a collective is not freed before the scope has waited.
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, member: &Communicator, mut buffer: Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(&mut buffer).unwrap();
        member.all_reduce(scope, &lent, &lent, Reduction::Sum).unwrap();
        drop(buffer);
        Ok(())
    })
    .unwrap();
}

fn main() {}
