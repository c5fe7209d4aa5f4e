// Page-locked memory is freed before the context that it was allocated in.
use cuprum::context::{Context, ContextStack};
use cuprum::memory::PinnedFlags;
use cuprum::PinnedBuffer;

fn wrong(context: Context, mut stack: ContextStack) {
    let cx = stack.push(&context).unwrap();
    let kept = PinnedBuffer::<f32>::zeroed(&cx, 16, PinnedFlags::empty()).unwrap();
    drop(cx);
    drop(context);
    drop(kept);
}

fn main() {}
