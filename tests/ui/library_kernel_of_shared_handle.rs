// A kernel that is found in a shared library borrows the handle.
use cuprum::module::{LibraryKernel, SharedCodeLibrary};

fn wrong(library: SharedCodeLibrary) -> LibraryKernel<'static> {
    library.kernel("saxpy").unwrap()
}

fn main() {}
