// An object made in a borrowed context is not `'static`, entered or pushed.
use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::{Buffer, ContextRef, Kernel, Module, Shared};

fn entered(context: &ContextRef) -> Buffer<'static, u8> {
    context.enter(|cx| Ok(Buffer::alloc(cx, 16).unwrap())).unwrap()
}

fn pushed(context: &PrimaryContext, stack: &mut ContextStack) -> Buffer<'static, u8> {
    Buffer::alloc(&stack.push(context).unwrap(), 16).unwrap()
}

fn kernel(module: &Shared<Module<'_>>) -> Kernel<'static, (u32,)> {
    module.kernel("k").unwrap()
}

fn main() {}
