// Neither side of a copy on the device is freed while it is in flight.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, mut from: Buffer<'_, f32>, to: &mut Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let source = scope.lend(from.as_mut_slice()).unwrap();
        let destination = scope.lend(to.as_mut_slice()).unwrap();
        scope.copy(&destination, &source).unwrap();
        drop(from);
        Ok(())
    })
    .unwrap();
}

fn main() {}
