// The handle whose context a token has pushed is not dropped before the token.
use cuprum::{ContextStack, SharedContext};

fn wrong(context: SharedContext, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    drop(context);
    cx.pop().unwrap();
}

fn main() {}
