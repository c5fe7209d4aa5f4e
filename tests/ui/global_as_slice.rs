// Kernels write a global variable whenever they run, so it is copied and never lent as a slice.
use cuprum::module::Global;
use cuprum::Module;

fn wrong(module: &Module<'_>) {
    let one: Global<'_, f32> = module.global("table").unwrap();
    let mut other: Global<'_, f32> = module.global("table").unwrap();
    let _reader = one.as_slice();
    let _writer = other.as_mut_slice();
}

fn main() {}
