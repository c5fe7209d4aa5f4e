// A default stream borrows a context that is not shared, and so do objects made through the stream.
// It holds a share of a shared context, but lends that no longer than it exists.
use cuprum::context::Context;
use cuprum::{Buffer, ContextRef, Shared, Stream};

fn borrowed(context: Context) {
    let kept = context.enter(|cx| Ok(Stream::default_in(cx))).unwrap();
    drop(context);
    drop(kept);
}

fn made(context: &Context) -> Buffer<'static, u8> {
    let kept = context.enter(|cx| Ok(Stream::default_in(cx))).unwrap();
    kept.enter(|cx| Ok(Buffer::alloc(cx, 16).unwrap())).unwrap()
}

fn lent(context: &Shared<ContextRef>) -> &'static ContextRef {
    let kept = context.enter(|cx| Ok(Stream::default_in(cx))).unwrap();
    kept.context()
}

fn main() {}
