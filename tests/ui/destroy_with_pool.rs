// A context is not destroyed while something made in it is alive: pools that keep blocks.
use cuprum::pool::{BufferPool, PinnedPool};
use cuprum::context::{Context, ContextStack};
use cuprum::memory::PinnedFlags;

fn wrong(context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let kept = (BufferPool::new(&cx), PinnedPool::new(&cx, PinnedFlags::empty()));
    cx.pop().unwrap();
    drop(context);
    drop(kept);
}

fn main() {}
