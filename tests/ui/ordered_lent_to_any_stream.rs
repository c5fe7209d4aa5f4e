// Memory in the order of a stream is no slice, which any stream could be lent.
use cuprum::pool::StreamBuffer;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, mut buffer: StreamBuffer<'_, u32>) {
    cx.scope(stream, |scope| {
        scope.lend(buffer.as_mut_slice()).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
