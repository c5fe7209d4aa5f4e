// A handle keeps the context alive, a reference from it no longer than the handle.
use cuprum::context::ToPush;
use cuprum::{ContextRef, Shared};

fn kept(context: &Shared<ContextRef>) -> &'static ContextRef {
    context
}

fn through_a_bound<'s>(context: impl ToPush<'s, 'static>) -> &'static ContextRef {
    let near = context.near();
    &*Box::leak(Box::new(near))
}

fn main() {}
