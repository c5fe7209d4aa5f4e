// Host memory that belongs to the scope's body would be gone before the scope has waited.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice()).unwrap();
        let host = vec![1.0; 16];
        lent.copy_from_host(&host).unwrap();
    })
    .unwrap();
}

fn main() {}
