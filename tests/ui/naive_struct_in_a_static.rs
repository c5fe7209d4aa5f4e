// A static with a context and what borrows it: the documentation of the types named says what to do.
use std::sync::OnceLock;

use cuprum::{Context, Stream};

static CONTEXT: OnceLock<Context> = OnceLock::new();
static STREAM: OnceLock<Stream<'static>> = OnceLock::new();

fn set(context: Context) {
    let stream = context.enter(|cx| Stream::new(cx).unwrap()).unwrap();
    STREAM.set(stream).unwrap();
    CONTEXT.set(context).unwrap();
}

fn main() {}
