// A context that is current cannot be destroyed.
use cuprum::context::{Context, ContextStack};

fn wrong(context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    drop(context);
    cx.synchronize().unwrap();
}

fn main() {}
