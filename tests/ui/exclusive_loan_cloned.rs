// A loan of memory that may be written is unique: only a loan to be read is `Copy`.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer).unwrap();
        let _second = lent.clone();
        Ok(())
    })
    .unwrap();
}

fn main() {}
