// Memory of a collective is not read before the scope has waited.
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, member: &Communicator, buffer: &mut Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice()).unwrap();
        member.all_reduce(scope, &lent, &lent, Reduction::Sum).unwrap();
        let sums = buffer.to_vec(cx).unwrap();
        scope.fill(&lent, sums[0]).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
