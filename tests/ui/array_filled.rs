// The driver fills linear memory and rows, no arrays.
use cuprum::Current;
use cuprum::memory::Array;

fn wrong(cx: &Current<'_, '_>, array: &mut Array<'_, f32>) {
    cx.fill(array, 1.0).unwrap();
}

fn main() {}
