// A collective uses memory that is lent to its own scope, not to the scope outside.
use cuprum::{Buffer, Current, Stream};
use cuprum_nccl::{Communicator, Reduction};

fn wrong(cx: &Current<'_, '_>, streams: [&Stream<'_>; 2], member: &Communicator, buffer: &mut Buffer<'_, f32>) {
    cx.scope(streams[0], |outer| {
        let lent = outer.lend(buffer.as_mut_slice()).unwrap();
        cx.scope(streams[1], |inner| {
            member.all_reduce(inner, &lent, &lent, Reduction::Sum).unwrap();
            Ok(())
        })
        .unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
