// A kernel borrows its library, which is not unloaded before it.
use cuprum::module::CodeLibrary;

fn wrong(library: CodeLibrary) {
    let kernel = library.kernel("saxpy").unwrap();
    library.close().unwrap();
    let _name = kernel.name();
}

fn main() {}
