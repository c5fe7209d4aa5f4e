// A kernel that is found in a shared library borrows the handle.
use cuprum::Shared;
use cuprum::module::{CodeLibrary, LibraryKernel};

fn wrong(library: Shared<CodeLibrary>) -> LibraryKernel<'static> {
    library.kernel("saxpy").unwrap()
}

fn main() {}
