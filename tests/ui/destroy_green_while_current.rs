// A green context is not destroyed while it is current.
use cuprum::context::{ContextStack, GreenContext};

fn wrong(green: GreenContext, stack: &mut ContextStack) {
    let cx = stack.push(&green).unwrap();
    drop(green);
    cx.synchronize().unwrap();
}

fn main() {}
