// A global variable borrows its module.
use cuprum::{Current, Module};

fn wrong(cx: &Current<'_, '_>, module: Module<'_>) {
    let table = module.global::<f32>("table").unwrap();
    drop(module);
    table.copy_from_host(cx, &[1.0]).unwrap();
}

fn main() {}
