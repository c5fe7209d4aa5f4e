// Memory is allocated in the current context, so a token is needed; a context alone does not do.
use cuprum::context::Context;
use cuprum::Buffer;

fn wrong(context: &Context) {
    let _buffer = Buffer::<f32>::alloc(context, 16);
}

fn main() {}
