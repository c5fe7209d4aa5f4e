// Host memory is not freed while a copy of it is in flight.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>, host: Vec<f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice()).unwrap();
        lent.copy_from_host(&host).unwrap();
        drop(host);
    })
    .unwrap();
}

fn main() {}
