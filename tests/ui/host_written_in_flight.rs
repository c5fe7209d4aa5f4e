// Host memory is not written while a copy of it is in flight.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>, host: &mut [f32]) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice()).unwrap();
        scope.copy(&lent, &*host).unwrap();
        host[0] = 1.0;
        Ok(())
    })
    .unwrap();
}

fn main() {}
