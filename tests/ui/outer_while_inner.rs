// While another context is on top, the token below cannot be used: its context is not the current
// one.
use cuprum::context::ContextStack;
use cuprum::{Buffer, ContextRef};

fn wrong(stack: &mut ContextStack, first: &ContextRef, second: &ContextRef) {
    let mut outer = stack.push(first).unwrap();
    let inner = outer.push(second).unwrap();
    let _buffer = Buffer::<f32>::alloc(&outer, 16);
    inner.pop().unwrap();
}

fn main() {}
