// Two slices that can write the same elements do not exist at the same time.
use cuprum::{Buffer, Current};

fn wrong(cx: &Current<'_, '_>, buffer: &mut Buffer<'_, f32>) {
    let mut one = buffer.slice_mut(..8).unwrap();
    let mut two = buffer.slice_mut(4..).unwrap();
    cx.fill_bytes(&mut one, 0).unwrap();
    cx.fill_bytes(&mut two, 0).unwrap();
}

fn main() {}
