// Memory of the device is lent to a scope before its stream uses it.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, to: &mut Buffer<'_, f32>, from: &Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let to = scope.lend(to).unwrap();
        scope.copy(&to, from).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
