// A stream that takes part in a capture is used through its lane alone.
use cuprum::graph::CaptureMode;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, one: &mut Stream<'_>, mut two: Stream<'_>) {
    cx.capture(one, CaptureMode::Global, |capture| {
        let lane = capture.fork(&mut two)?;
        cx.scope(&two, |_| Ok(())).unwrap();
        capture.join(&lane)
    })
    .unwrap();
}

fn main() {}
