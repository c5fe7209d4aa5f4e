// Memory of another context is not written while a stream copies from it.
use cuprum::memory::Peer;
use cuprum::{Buffer, Current, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mine: &mut Buffer<'_, f32>,
    theirs: &mut Buffer<'_, f32>,
) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(mine.as_mut_slice()).unwrap();
        scope.copy(&lent, &scope.lend(Peer(&*theirs)).unwrap()).unwrap();
        cx.fill(theirs, 1.0).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
