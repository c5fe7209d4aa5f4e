// Memory that is lent to be read cannot be written.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, to: &Buffer<'_, f32>, from: &Buffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let (to, from) = (scope.lend(to).unwrap(), scope.lend(from).unwrap());
        scope.copy(&to, &from).unwrap();
        scope.fill(&to, 1.0).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
