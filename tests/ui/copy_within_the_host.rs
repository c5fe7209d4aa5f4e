// One side of a copy at least is on the device.
use cuprum::Current;

fn wrong(cx: &Current<'_, '_>, to: &mut [f32], from: &[f32]) {
    cx.copy(to, from).unwrap();
}

fn main() {}
