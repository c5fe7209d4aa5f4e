// A stream is not captured while memory in its order is there: freed meanwhile, that would be a
// node of the graph.
use cuprum::graph::CaptureMode;
use cuprum::pool::StreamBuffer;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, mut stream: Stream<'_>) {
    let buffer = StreamBuffer::<u32>::alloc(cx, &stream, 8).unwrap();
    cx.capture(&mut stream, CaptureMode::Relaxed, |_| {
        drop(buffer);
        Ok(())
    })
    .unwrap();
}

fn main() {}
