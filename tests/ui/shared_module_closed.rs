// Shared code is not unloaded by one of its handles.
use cuprum::{Error, SharedModule};

fn wrong(module: SharedModule<'_>) -> Result<(), Error> {
    module.close()
}

fn main() {}
