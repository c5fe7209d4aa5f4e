// What is made in a borrowed context is not `'static`, entered or pushed.
use cuprum::{Buffer, ContextRef, ContextStack, PrimaryContext, SharedKernel, SharedModule};

fn entered(context: &ContextRef) -> Buffer<'static, u8> {
    context.enter(|cx| Buffer::alloc(cx, 16).unwrap()).unwrap()
}

fn pushed(context: &PrimaryContext, stack: &mut ContextStack) -> Buffer<'static, u8> {
    Buffer::alloc(&stack.push(context).unwrap(), 16).unwrap()
}

fn kernel(module: &SharedModule<'_>) -> SharedKernel<'static, (u32,)> {
    module.kernel("k").unwrap()
}

fn main() {}
