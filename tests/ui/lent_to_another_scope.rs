// What was lent to one scope is used by its stream alone, not by that of a scope inside.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, one: &Stream<'_>, two: &Stream<'_>, from: &mut Buffer<'_, f32>, to: &mut Buffer<'_, f32>) {
    cx.scope(one, |outer| {
        let source = outer.lend(from.as_mut_slice()).unwrap();
        cx.scope(two, |inner| {
            let destination = inner.lend(to.as_mut_slice()).unwrap();
            destination.copy_from(&source).unwrap();
        })
        .unwrap();
    })
    .unwrap();
}

fn main() {}
