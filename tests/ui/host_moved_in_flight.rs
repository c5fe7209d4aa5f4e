// Host memory of the scope's body would be freed before the scope has waited.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice()).unwrap();
        let host = vec![1.0; 16];
        scope.copy(&lent, &host).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
