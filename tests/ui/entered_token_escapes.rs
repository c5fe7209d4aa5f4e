// The token of `enter` stays inside, and so does what borrows it.
use cuprum::{ContextRef, Current};

fn returned<'c>(context: &'c ContextRef) -> &'c Current<'c, 'c> {
    context.enter(|cx| &*cx).unwrap()
}

fn kept<'c>(context: &'c ContextRef, place: &mut Option<Current<'c, 'c>>) {
    context.enter(|cx| *place = cx.push(context).ok()).unwrap();
}

fn main() {}
