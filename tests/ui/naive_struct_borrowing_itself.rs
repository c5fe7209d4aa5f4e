// A struct with a context and a borrow of it: the documentation of the types named has the answer.
use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::{Buffer, Device, Module};

struct App<'a> {
    buffer: Buffer<'a, f32>,
    module: Module<'a>,
    context: PrimaryContext,
}

fn new<'a>(device: Device, stack: &mut ContextStack) -> App<'a> {
    let context = PrimaryContext::retain(device).unwrap();
    let cx = stack.push(&context).unwrap();
    let buffer = Buffer::alloc(&cx, 16).unwrap();
    let module = Module::load_ptx(&cx, "").unwrap();
    drop(cx);
    App { buffer, module, context }
}

fn main() {}
