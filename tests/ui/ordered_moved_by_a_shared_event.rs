// Memory moves to another stream by an event that no other code records meanwhile.
use cuprum::pool::StreamBuffer;
use cuprum::stream::Event;
use cuprum::{Current, Stream};

fn wrong<'s>(cx: &Current<'_, '_>, event: &Event<'_>, to: &'s Stream<'_>, mut buffer: StreamBuffer<'s, u32>) {
    buffer.move_to(cx, event, to).unwrap();
}

fn main() {}
