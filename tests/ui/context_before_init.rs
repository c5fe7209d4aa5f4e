// A context is made on a device, and a device comes from an initialized driver.
use cuprum::context::{Context, ContextFlags};
use cuprum::Library;

fn wrong(library: Library) -> Context {
    Context::create(library, ContextFlags::empty()).unwrap()
}

fn main() {}
