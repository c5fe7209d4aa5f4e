// Only this crate implements the trait for contexts that can be pushed.
use cuprum::ContextRef;
use cuprum::context::ToPush;

struct Mine<'s>(&'s ContextRef);

impl<'s> ToPush<'s, 'static> for Mine<'s> {}

fn main() {}
