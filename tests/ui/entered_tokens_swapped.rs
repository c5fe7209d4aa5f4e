// Tokens of two `enter`s, and of code outside, do not change places.
use cuprum::{ContextRef, Current, Shared};

fn swapped(first: &'static ContextRef, second: &Shared<ContextRef>) {
    first.enter(|outer| second.enter(|inner| Ok(std::mem::swap(outer, inner)))).unwrap();
}

fn replaced<'s, 'c>(context: &'c ContextRef, outer: Current<'s, 'c>) {
    context.enter(|cx| Ok(drop(std::mem::replace(cx, outer)))).unwrap();
}

fn main() {}
