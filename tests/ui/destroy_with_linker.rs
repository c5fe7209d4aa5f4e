// A context is not destroyed while something made in it is alive: linker.
use cuprum::module::{Linker, LoadOptions};
use cuprum::context::{Context, ContextStack};

fn wrong(context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let kept = Linker::new(&cx, &LoadOptions::default()).unwrap();
    cx.pop().unwrap();
    drop(context);
    drop(kept);
}

fn main() {}
