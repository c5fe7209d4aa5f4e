// The handle whose context a token has pushed is not dropped before the token.
use cuprum::context::ContextStack;
use cuprum::{ContextRef, Shared};

fn wrong(context: Shared<ContextRef>, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    drop(context);
    cx.pop().unwrap();
}

fn main() {}
