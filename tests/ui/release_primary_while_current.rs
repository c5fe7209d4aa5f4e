// The primary context is not released while it is current: it would stay on the thread's stack.
use cuprum::context::{ContextStack, PrimaryContext};

fn wrong(context: PrimaryContext, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    context.close().unwrap();
    cx.synchronize().unwrap();
}

fn main() {}
