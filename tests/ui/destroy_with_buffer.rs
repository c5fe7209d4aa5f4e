// A context is not destroyed while something made in it is alive: buffer.
use cuprum::context::{Context, ContextStack};
use cuprum::Buffer;

fn wrong(context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let kept = Buffer::<f32>::alloc(&cx, 16).unwrap();
    cx.pop().unwrap();
    drop(context);
    drop(kept);
}

fn main() {}
