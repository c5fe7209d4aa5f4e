// Shared code is not unloaded by one of its handles.
use cuprum::{Error, Module, Shared};

fn wrong(module: Shared<Module<'_>>) -> Result<(), Error> {
    module.close()
}

fn main() {}
