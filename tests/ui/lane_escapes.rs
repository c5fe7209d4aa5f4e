// A part of a scope over several streams does not leave it.
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let lane = cx.multi_scope(|scope| Ok(scope.on(stream).unwrap())).unwrap();
    drop(lane);
}

fn main() {}
