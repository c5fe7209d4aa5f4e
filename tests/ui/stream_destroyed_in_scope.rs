// A stream is not destroyed while a scope has copies queued in it.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: Stream<'_>, buffer: &mut Buffer<'_, f32>, host: &mut [f32]) {
    cx.scope(&stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice()).unwrap();
        lent.copy_to_host(host).unwrap();
        drop(stream);
    })
    .unwrap();
}

fn main() {}
