// A context is not destroyed while something made in it is alive: stream.
use cuprum::context::{Context, ContextStack};
use cuprum::Stream;

fn wrong(context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let kept = Stream::new(&cx).unwrap();
    cx.pop().unwrap();
    drop(context);
    drop(kept);
}

fn main() {}
