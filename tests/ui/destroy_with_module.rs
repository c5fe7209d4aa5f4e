// A context is not destroyed while something made in it is alive: module.
use cuprum::context::{Context, ContextStack};
use cuprum::Module;

fn wrong(context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let kept = Module::load_ptx(&cx, "").unwrap();
    cx.pop().unwrap();
    drop(context);
    drop(kept);
}

fn main() {}
