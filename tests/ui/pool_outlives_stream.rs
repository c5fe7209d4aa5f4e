// A pool keeps the streams of its blocks: one that is borrowed is not destroyed before the pool.
use cuprum::pool::BufferPool;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>) {
    let pool = BufferPool::new(cx);
    let stream = Stream::new(cx).unwrap();
    drop(pool.alloc::<u32>(cx, &stream, 8).unwrap());
    drop(stream);
    pool.free_held().unwrap();
}

fn main() {}
