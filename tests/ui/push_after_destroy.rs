// A context that was destroyed cannot be made current.
use cuprum::context::{Context, ContextStack};

fn wrong(context: Context, stack: &mut ContextStack) {
    drop(context);
    let _cx = stack.push(&context);
}

fn main() {}
