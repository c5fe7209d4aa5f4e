// Page-locked memory is not freed during a copy.
use cuprum::{Buffer, Current, PinnedBuffer, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mut host: PinnedBuffer<'_, f32>,
    buffer: &mut Buffer<'_, f32>,
) {
    cx.scope(stream, |scope| {
        let device = scope.lend(buffer.as_mut_slice()).unwrap();
        let lent = scope.lend(&mut host).unwrap();
        scope.copy(&lent, &device).unwrap();
        drop(host);
        Ok(())
    })
    .unwrap();
}

fn main() {}
