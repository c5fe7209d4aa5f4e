// Page-locked memory that the device writes is not read before the scope has waited.
use cuprum::{Buffer, Current, PinnedBuffer, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    host: &mut PinnedBuffer<'_, f32>,
    buffer: &mut Buffer<'_, f32>,
) {
    cx.scope(stream, |scope| {
        let device = scope.lend(buffer.as_mut_slice()).unwrap();
        let lent = scope.lend(&mut *host).unwrap();
        scope.copy(&lent, &device).unwrap();
        println!("{}", host[0]);
        Ok(())
    })
    .unwrap();
}

fn main() {}
