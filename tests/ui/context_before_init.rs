// A context is made on a device, and a device comes from an initialized driver.
use cuprum::{Context, ContextFlags, Library};

fn wrong(library: Library) -> Context {
    Context::create(library, ContextFlags::empty()).unwrap()
}

fn main() {}
