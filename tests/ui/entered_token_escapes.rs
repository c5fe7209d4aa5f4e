// The token of `enter` stays inside, and so does every borrow of it.
use cuprum::{ContextRef, Current};

fn returned<'c>(context: &'c ContextRef) -> &'c Current<'c, 'c> {
    context.enter(|cx| Ok(&*cx)).unwrap()
}

fn kept<'c>(context: &'c ContextRef, place: &mut Option<Current<'c, 'c>>) {
    context.enter(|cx| Ok(*place = cx.push(context).ok())).unwrap();
}

fn main() {}
