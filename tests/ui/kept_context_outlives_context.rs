// What keeps a borrowed context borrows it, and so does what is made through it; of a shared one nothing is lent for good.
use cuprum::{Buffer, Context, ContextRef, KeptContext, SharedContext};

fn borrowed(context: Context) {
    let kept = context.enter(|cx| cx.keep()).unwrap();
    drop(context);
    drop(kept);
}

fn made(context: &Context) -> Buffer<'static, u8> {
    let kept = context.enter(|cx| cx.keep()).unwrap();
    kept.enter(|cx| Buffer::alloc(cx, 16).unwrap()).unwrap()
}

fn lent(context: &SharedContext) -> &'static ContextRef {
    let kept: KeptContext<'static> = context.enter(|cx| cx.keep()).unwrap();
    &*kept
}

fn main() {}
