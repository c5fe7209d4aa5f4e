// A device comes from an initialized driver, not from a library that is merely loaded.
use cuprum::{Device, Library};

fn wrong(library: Library) -> Device {
    library.device(0).unwrap()
}

fn main() {}
