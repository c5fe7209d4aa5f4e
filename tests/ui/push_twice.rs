// Two tokens of one stack cannot be on the same level: the second is pushed from the first.
use cuprum::context::ContextStack;
use cuprum::ContextRef;

fn wrong(stack: &mut ContextStack, first: &ContextRef, second: &ContextRef) {
    let one = stack.push(first).unwrap();
    let two = stack.push(second).unwrap();
    drop(one);
    drop(two);
}

fn main() {}
