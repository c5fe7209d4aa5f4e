// A context is not destroyed while something made in it is alive: event.
use cuprum::context::{Context, ContextStack};
use cuprum::stream::{Event, EventFlags};

fn wrong(context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let kept = Event::new(&cx, EventFlags::empty()).unwrap();
    cx.pop().unwrap();
    drop(context);
    drop(kept);
}

fn main() {}
