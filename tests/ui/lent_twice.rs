// One stream at a time has a piece of device memory, also to read it.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, one: &Stream<'_>, two: &Stream<'_>, buffer: &mut Buffer<'_, f32>) {
    cx.scope(one, |outer| {
        let _first = outer.lend(buffer.as_mut_slice()).unwrap();
        cx.scope(two, |inner| {
            let _second = inner.lend(buffer.as_mut_slice()).unwrap();
            Ok(())
        })
        .unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
