// A function of the host that a stream calls borrows nothing of the caller.
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let mut count = 0;
    stream.call_host(cx, || count += 1).unwrap();
}

fn main() {}
