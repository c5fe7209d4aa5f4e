// Memory lent to one scope is not used with memory lent to another: they run on two streams.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, streams: [&Stream<'_>; 2], a: &mut Buffer<'_, u8>, b: &mut Buffer<'_, u8>) {
    cx.scope(streams[0], |outer| {
        let to = outer.lend(a.as_mut_slice()).unwrap();
        cx.scope(streams[1], |inner| Ok(inner.copy(&to, &inner.lend(b.as_mut_slice()).unwrap())?))
    })
    .unwrap();
}

fn main() {}
