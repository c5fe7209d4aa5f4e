// A slice is not lent for asynchronous writes, page-locked or not: only its owner can be kept from
// the host.
use cuprum::{Buffer, Current, PinnedBuffer, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    host: &mut PinnedBuffer<'_, f32>,
    buffer: &mut Buffer<'_, f32>,
) {
    cx.scope(stream, |scope| {
        let device = scope.lend(buffer.as_mut_slice()).unwrap();
        scope.copy(&scope.lend(&mut host[1..]).unwrap(), &device).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
