// A slice that can write does not coexist with one that reads the same elements.
use cuprum::{Buffer, Current};

fn wrong(cx: &Current<'_, '_>, buffer: &mut Buffer<'_, f32>) {
    let reader = buffer.slice(..8).unwrap();
    let mut writer = buffer.slice_mut(4..12).unwrap();
    cx.copy(&mut writer, &reader).unwrap();
}

fn main() {}
