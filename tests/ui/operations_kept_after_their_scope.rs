// Operations do not outlive the scope that their memory is lent to.
use cuprum::stream::{Operations, Signals};
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, signals: &Signals<'_, u32>) {
    let mut operations = Operations::default();
    cx.scope(stream, |scope| {
        let lent = scope.lend(signals).unwrap();
        operations.write(&lent, 0, 1).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
