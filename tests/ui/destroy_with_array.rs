// A context outlives the arrays that were made in it.
use cuprum::memory::{Array, ArrayFlags, ArrayShape};
use cuprum::context::{Context, ContextStack};

fn wrong(stack: &mut ContextStack, context: Context) {
    let cx = stack.push(&context).unwrap();
    let shape = ArrayShape::OneD { width: 4 };
    let array = Array::<f32>::new(&cx, shape, ArrayFlags::empty()).unwrap();
    drop(cx);
    drop(context);
    drop(array);
}

fn main() {}
