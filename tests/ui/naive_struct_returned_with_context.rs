// A context that is returned beside what borrows it: the documentation of the types named says what to do.
use cuprum::{Buffer, Context, ContextFlags, Device};

fn new(device: Device) -> (Context, Buffer<'static, f32>) {
    let context = Context::create(device, ContextFlags::empty()).unwrap();
    let buffer = context.enter(|cx| Buffer::alloc(cx, 16).unwrap()).unwrap();
    (context, buffer)
}

fn main() {}
