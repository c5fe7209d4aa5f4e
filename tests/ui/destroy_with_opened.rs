// A context is not destroyed while something of another process is open in it: memory and an event.
use cuprum::context::{Context, ContextStack};
use cuprum::memory::{ForeignBuffer};
use cuprum::stream::{Event};

fn wrong(context: Context, stack: &mut ContextStack, memory: [u8; 64], event: [u8; 64]) {
    let cx = stack.push(&context).unwrap();
    let memory = unsafe { ForeignBuffer::<f32>::open_ipc(&cx, memory) }.unwrap();
    let event = unsafe { Event::open(&cx, event) }.unwrap();
    cx.pop().unwrap();
    drop(context);
    drop((memory, event));
}

fn main() {}
