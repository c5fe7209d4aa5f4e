// Memory that is made in a scope of several streams is gone before the scope waits.
use cuprum::{Current, PinnedBuffer, PinnedFlags, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>) {
    cx.multi_scope(|scope| {
        let mut host = PinnedBuffer::<u8>::zeroed(cx, 16, PinnedFlags::empty()).unwrap();
        scope.on(stream).unwrap().lend_host(&mut host).unwrap();
        host[0] += 1;
    })
    .unwrap();
}

fn main() {}
