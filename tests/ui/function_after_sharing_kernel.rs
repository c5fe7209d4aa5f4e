// A function found through a shared kernel or a shared module lives as long as that handle.
use cuprum::module::Function;
use cuprum::{Kernel, Module, Shared};

fn of_kernel<'c>(kernel: Kernel<'c, (u32,)>) -> Function<'c> {
    kernel.function()
}

fn of_module<'c>(module: Shared<Module<'c>>) -> Function<'c> {
    module.function("k").unwrap()
}

fn main() {}
