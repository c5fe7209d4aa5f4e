// Memory of another context is not written while a stream copies from it.
use cuprum::{Buffer, Current, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mine: &mut Buffer<'_, f32>,
    theirs: &mut Buffer<'_, f32>,
) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(mine.as_mut_slice()).unwrap();
        lent.copy_from_peer(&scope.lend_peer(theirs.as_slice()).unwrap()).unwrap();
        theirs.fill(cx, 1.0).unwrap();
    })
    .unwrap();
}

fn main() {}
