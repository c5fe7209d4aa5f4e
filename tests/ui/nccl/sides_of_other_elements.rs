// Both sides of a collective have elements of one type.
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, member: &Communicator, to: &mut Buffer<'_, f64>, from: &Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let (to, from) = (scope.lend(to.as_mut_slice()).unwrap(), scope.lend(from).unwrap());
        member.all_reduce(scope, &to, &from, Reduction::Sum).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
