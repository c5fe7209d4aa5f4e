// Tokens of two `enter`s, and of code outside, do not change places.
use cuprum::{ContextRef, Current, SharedContext};

fn swapped(first: &'static ContextRef, second: &SharedContext) {
    first.enter(|outer| second.enter(|inner| std::mem::swap(outer, inner))).unwrap().unwrap();
}

fn replaced<'s, 'c>(context: &'c ContextRef, outer: Current<'s, 'c>) {
    context.enter(|cx| drop(std::mem::replace(cx, outer))).unwrap();
}

fn main() {}
