// Memory lent to a scope is not used with that of another: they run on two streams.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, streams: [&Stream<'_>; 2], a: &mut Buffer<'_, u8>, b: &mut Buffer<'_, u8>) {
    cx.scope(streams[0], |outer| {
        let to = outer.lend(a.as_mut_slice()).unwrap();
        cx.scope(streams[1], |inner| to.copy_from(&inner.lend(b.as_mut_slice()).unwrap())).unwrap()
    })
    .unwrap()
    .unwrap();
}

fn main() {}
