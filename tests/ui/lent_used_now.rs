// The token does not copy a loan, because its copies are not ordered with the stream that has the
// loan.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>, host: &mut [f32]) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer).unwrap();
        cx.copy(host, &lent).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
