// A lane does not leave the capture that it belongs to.
use cuprum::graph::CaptureMode;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, one: &mut Stream<'_>, two: &mut Stream<'_>) {
    let (_graph, _lane) = cx.capture(one, CaptureMode::Global, |capture| capture.fork(two)).unwrap();
}

fn main() {}
