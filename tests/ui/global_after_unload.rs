// A global variable borrows its module.
use cuprum::{Current, Module};

fn wrong(cx: &Current<'_, '_>, module: Module<'_>) {
    let mut table = module.global::<f32>("table").unwrap();
    drop(module);
    cx.copy(&mut table, &[1.0]).unwrap();
}

fn main() {}
