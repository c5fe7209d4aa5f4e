// Elements are copied with their own type, and no copy within the host is queued.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, to: &mut Buffer<'_, f32>, from: &Buffer<'_, f64>) {
    cx.scope(stream, |scope| {
        let (to, from) = (scope.lend(to).unwrap(), scope.lend(from).unwrap());
        scope.copy(&to, &from).unwrap();
        scope.read(&mut [0f32; 4], &from).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
