// A context outlives the managed memory that was allocated in it.
use cuprum::memory::ManagedBuffer;
use cuprum::context::{Context, ContextStack};

fn wrong(stack: &mut ContextStack, context: Context) {
    let cx = stack.push(&context).unwrap();
    let memory = ManagedBuffer::<f32>::alloc(&cx, 4).unwrap();
    drop(cx);
    drop(context);
    drop(memory);
}

fn main() {}
