// A kernel that was bound borrows its module, also when it is only dropped.
use cuprum::Module;

fn wrong(module: Module<'_>) {
    let kernel = module.function("saxpy").unwrap().bind::<(u32,)>().unwrap();
    module.close().unwrap();
    drop(kernel);
}

fn main() {}
