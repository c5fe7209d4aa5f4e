// Device memory lent to a scope is used by the scope alone until it has ended.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, buffer: &mut Buffer<'_, f32>, host: &mut [f32]) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice()).unwrap();
        cx.copy(host, buffer).unwrap();
        drop(lent);
        Ok(())
    })
    .unwrap();
}

fn main() {}
