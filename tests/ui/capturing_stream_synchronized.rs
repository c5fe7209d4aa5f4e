// A stream that is captured is not waited for.
use cuprum::graph::CaptureMode;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &mut Stream<'_>) {
    cx.capture(stream, CaptureMode::Global, |_| {
        stream.synchronize(cx).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
