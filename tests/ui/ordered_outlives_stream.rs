// A stream is not destroyed while memory in its order is there, which is freed on it.
use cuprum::pool::StreamBuffer;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>) {
    let stream = Stream::new(cx).unwrap();
    let buffer = StreamBuffer::<u32>::alloc(cx, &stream, 8).unwrap();
    drop(stream);
    drop(buffer);
}

fn main() {}
