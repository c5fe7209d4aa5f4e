// Both sides of a copy have elements of one type.
use cuprum::{Buffer, Current};

fn wrong(cx: &Current<'_, '_>, to: &mut Buffer<'_, f32>, from: &[f64]) {
    cx.copy(to, from).unwrap();
}

fn main() {}
