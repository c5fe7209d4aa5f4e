// Memory that one stream may write is not lent to another one.
use cuprum::{Buffer, Current, Stream};

fn wrong(cx: &Current<'_, '_>, streams: &[Stream<'_>; 2], buffer: &mut Buffer<'_, f32>) {
    cx.multi_scope(|scope| {
        scope.on(&streams[0]).unwrap().lend(buffer.as_mut_slice()).unwrap();
        // Not even when the first loan is no longer used: its stream may be at it until the scope
        // ends.
        scope.on(&streams[1]).unwrap().lend(buffer.as_slice()).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
