// A path in the code is the program's claim: the file runs in this process, or writes code that is
// loaded.
use cuprum_compile::Compiler;
use cuprum_compile::nvrtc::Library;

fn wrong() {
    let _library = Library::open_from("/opt/some.so");
    let _compiler = Compiler::nvcc_at("/opt/some/nvcc");
}

fn main() {}
