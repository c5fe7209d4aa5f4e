// A context is not destroyed while something made in it is alive: the module of a library, which stays.
use cuprum::module::CodeLibrary;
use cuprum::context::{Context, ContextStack};

fn wrong(library: &CodeLibrary, context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let kept = library.module(&cx).unwrap();
    cx.pop().unwrap();
    drop(context);
    drop(kept);
}

fn main() {}
