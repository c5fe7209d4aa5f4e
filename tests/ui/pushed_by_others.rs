// What can be pushed is for this crate to say.
use cuprum::ContextRef;
use cuprum::context::ToPush;

struct Mine<'s>(&'s ContextRef);

impl<'s> ToPush<'s, 'static> for Mine<'s> {}

fn main() {}
