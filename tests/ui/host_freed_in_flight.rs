// Host memory is not freed while a copy of it is in flight.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>, host: Vec<f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice()).unwrap();
        scope.copy(&lent, &host).unwrap();
        drop(host);
        Ok(())
    })
    .unwrap();
}

fn main() {}
