// Memory of a graph is used in captures of that graph, not by a collective of a scope.
use cuprum::graph::Loan;
use cuprum::{Current, InOut, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, member: &Communicator, loan: Loan<InOut<f32>>) {
    cx.scope(stream, |scope| {
        member.all_reduce(scope, &loan, &loan, Reduction::Sum).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
