// Only the stream of its own scope uses a loan, not the stream of a scope inside.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, one: &Stream<'_>, two: &Stream<'_>, from: &mut Buffer<'_, f32>, to: &mut Buffer<'_, f32>) {
    cx.scope(one, |outer| {
        let source = outer.lend(from.as_mut_slice()).unwrap();
        cx.scope(two, |inner| {
            let destination = inner.lend(to.as_mut_slice()).unwrap();
            inner.copy(&destination, &source).unwrap();
            Ok(())
        })
        .unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
