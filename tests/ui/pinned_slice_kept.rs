// A slice of page-locked memory ends before the memory is lent.
use cuprum::{Buffer, Current, PinnedBuffer, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    host: &mut PinnedBuffer<'_, f32>,
    buffer: &mut Buffer<'_, f32>,
) {
    let first = &host[0];
    cx.scope(stream, |scope| {
        let device = scope.lend(buffer.as_mut_slice()).unwrap();
        scope.copy(&scope.lend(&mut *host).unwrap(), &device).unwrap();
        Ok(())
    })
    .unwrap();
    println!("{first}");
}

fn main() {}
