// A function that a kernel returns for the current context is valid as long as the token.
use cuprum::module::LibraryKernel;
use cuprum::context::ContextStack;
use cuprum::{ContextRef, Shared};

fn wrong(kernel: LibraryKernel<'_>, context: Shared<ContextRef>, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let function = kernel.function(&cx).unwrap();
    cx.pop().unwrap();
    drop(context);
    let _kernel = function.bind::<(u32,)>();
}

fn main() {}
