// The library's module in a context borrows the library, and a function of it does.
use cuprum::Current;
use cuprum::module::CodeLibrary;

fn wrong(library: CodeLibrary, cx: &Current<'_, '_>) {
    let module = library.module(cx).unwrap();
    let function = module.function("saxpy").unwrap();
    drop(library);
    let _kernel = function.bind::<(u32,)>();
}

fn main() {}
