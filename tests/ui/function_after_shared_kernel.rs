// What is found through a shared kernel or a shared module lives as long as that handle.
use cuprum::{Function, SharedKernel, SharedModule};

fn of_kernel<'c>(kernel: SharedKernel<'c, (u32,)>) -> Function<'c> {
    kernel.function()
}

fn of_module<'c>(module: SharedModule<'c>) -> Function<'c> {
    module.function("k").unwrap()
}

fn main() {}
