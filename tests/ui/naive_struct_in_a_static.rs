// A static with a context and a borrow of it: the documentation of the types named has the answer.
use std::sync::OnceLock;

use cuprum::context::Context;
use cuprum::Stream;

static CONTEXT: OnceLock<Context> = OnceLock::new();
static STREAM: OnceLock<Stream<'static>> = OnceLock::new();

fn set(context: Context) {
    let stream = context.enter(|cx| Ok(Stream::new(cx).unwrap())).unwrap();
    STREAM.set(stream).unwrap();
    CONTEXT.set(context).unwrap();
}

fn main() {}
