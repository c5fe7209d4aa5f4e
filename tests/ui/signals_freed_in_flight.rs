// Signals are not freed while a stream may wait for them.
use cuprum::stream::{Signals, Until};
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, signals: Signals<'_, u32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(&signals).unwrap();
        scope.wait_value(&lent, 0, Until::Equal(1)).unwrap();
        drop(signals);
        Ok(())
    })
    .unwrap();
}

fn main() {}
