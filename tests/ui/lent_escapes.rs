// A loan to a scope does not leave it.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>) {
    let lent = cx.scope(stream, |scope| Ok(scope.lend(buffer.as_mut_slice()).unwrap())).unwrap();
    drop(lent);
}

fn main() {}
