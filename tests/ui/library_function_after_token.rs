// A function that a kernel gives for the current context is good as long as the token.
use cuprum::module::LibraryKernel;
use cuprum::{ContextStack, SharedContext};

fn wrong(kernel: LibraryKernel<'_>, context: SharedContext, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let function = kernel.function(&cx).unwrap();
    cx.pop().unwrap();
    drop(context);
    let _kernel = function.bind::<(u32,)>();
}

fn main() {}
