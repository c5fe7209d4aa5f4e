// Memory that is made in a scope of several streams is freed before the scope waits.
use cuprum::memory::PinnedFlags;
use cuprum::{Current, PinnedBuffer, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>) {
    cx.multi_scope(|scope| {
        let mut host = PinnedBuffer::<u8>::zeroed(cx, 16, PinnedFlags::empty()).unwrap();
        scope.on(stream).unwrap().lend(&mut host).unwrap();
        host[0] += 1;
        Ok(())
    })
    .unwrap();
}

fn main() {}
