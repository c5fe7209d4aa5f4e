// A pool and its memory belong to a context that is shared or leaked: they are dropped in any
// order.
use cuprum::region::Pool;
use cuprum::context::{Context, ContextStack};
use cuprum::Error;

fn wrong(context: &Context) -> Result<Pool, Error> {
    let mut stack = ContextStack::take().expect("the stack");
    Ok(Pool::new(&stack.push(context)?))
}

fn main() {}
