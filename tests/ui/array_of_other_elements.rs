// An array holds elements of one, two or four channels.
use cuprum::Current;
use cuprum::memory::{Array, ArrayFlags, ArrayShape};

fn wrong(cx: &Current<'_, '_>) {
    let _array = Array::<[f32; 3]>::new(cx, ArrayShape::OneD { width: 4 }, ArrayFlags::empty());
}

fn main() {}
