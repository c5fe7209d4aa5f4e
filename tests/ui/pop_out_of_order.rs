// The token pushed last is popped first.
use cuprum::context::ContextStack;
use cuprum::ContextRef;

fn wrong(stack: &mut ContextStack, first: &ContextRef, second: &ContextRef) {
    let mut outer = stack.push(first).unwrap();
    let inner = outer.push(second).unwrap();
    outer.pop().unwrap();
    inner.pop().unwrap();
}

fn main() {}
