// A default stream, which keeps its context for whoever has it, borrows one that is not shared, and so does what is made by
// way of it. Of a shared context it has a share, but lends it no longer than itself.
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
