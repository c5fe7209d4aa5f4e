// A queue may be recorded by any thread: it is no stream, to which a scope would lend memory.
use cuprum::region::Queue;
use cuprum::memory::SliceMut;
use cuprum::Current;

fn wrong(cx: &Current<'_, 'static>, queue: &Queue, buffer: SliceMut<'_, u8>) -> cuprum::Result<()> {
    cx.scope(queue, |scope| Ok(scope.lend(buffer).map(drop)?))
}

fn main() {}
