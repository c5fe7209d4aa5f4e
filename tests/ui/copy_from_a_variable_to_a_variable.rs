// Two handles of variables can be of one variable, so they are not copied to each other.
use cuprum::module::Global;
use cuprum::Current;

fn wrong(cx: &Current<'_, '_>, to: &mut Global<'_, f32>, from: &Global<'_, f32>) {
    cx.copy(to, from).unwrap();
}

fn main() {}
