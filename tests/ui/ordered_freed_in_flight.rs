// Memory in the order of a stream is not freed while it is lent to a scope.
use cuprum::pool::StreamBuffer;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, mut buffer: StreamBuffer<'_, u32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(&mut buffer).unwrap();
        drop(buffer);
        scope.fill(&lent, 1).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
