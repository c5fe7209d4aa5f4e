// A function borrows its module, which is not unloaded before it.
use cuprum::Module;

fn wrong(module: Module<'_>) {
    let function = module.function("saxpy").unwrap();
    drop(module);
    let _kernel = function.bind::<(u32,)>();
}

fn main() {}
