// A context that is returned with a borrow of it: the documentation of the types named has the
// answer.
use cuprum::context::{Context, ContextFlags};
use cuprum::{Buffer, Device};

fn new(device: Device) -> (Context, Buffer<'static, f32>) {
    let context = Context::create(device, ContextFlags::empty()).unwrap();
    let buffer = context.enter(|cx| Ok(Buffer::alloc(cx, 16).unwrap())).unwrap();
    (context, buffer)
}

fn main() {}
