// A context is not destroyed while something made in it is alive: signals.
use cuprum::stream::Signals;
use cuprum::context::{Context, ContextStack};

fn wrong(context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let kept = Signals::<u32>::new(&cx, 1).unwrap();
    cx.pop().unwrap();
    drop(context);
    drop(kept);
}

fn main() {}
