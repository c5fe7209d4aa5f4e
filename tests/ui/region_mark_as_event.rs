// A mark may be part of a recording: no stream waits for it, which would become part of that, too.
use cuprum::region::Mark;
use cuprum::{Current, Error, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, mark: &Mark) -> Result<(), Error> {
    stream.wait_event(cx, mark)
}

fn main() {}
