// A stream is not destroyed while a scope has copies queued in it.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: Stream<'_>, buffer: &mut Buffer<'_, f32>, host: &mut [f32]) {
    cx.scope(&stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice()).unwrap();
        scope.read(host, &lent).unwrap();
        drop(stream);
        Ok(())
    })
    .unwrap();
}

fn main() {}
