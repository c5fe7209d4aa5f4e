// A context is not destroyed while a buffer of OpenGL is registered with it.
use cuprum::graphics::{RegisterFlags, RegisteredBuffer};
use cuprum::context::{Context, ContextStack};

fn wrong(context: Context, stack: &mut ContextStack) {
    let cx = stack.push(&context).unwrap();
    let vertices = unsafe { RegisteredBuffer::new(&cx, 1, RegisterFlags::empty()) }.unwrap();
    cx.pop().unwrap();
    drop(context);
    drop(vertices);
}

fn main() {}
