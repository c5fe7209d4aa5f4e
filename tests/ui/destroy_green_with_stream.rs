// A green context outlives its streams.
use cuprum::context::{ContextStack, GreenContext};
use cuprum::Stream;

fn wrong(green: GreenContext, stack: &mut ContextStack) {
    let cx = stack.push(&green).unwrap();
    let stream = Stream::in_green_context(&cx, 0).unwrap();
    cx.pop().unwrap();
    green.close().unwrap();
    drop(stream);
}

fn main() {}
