// A slice borrows its buffer, which is not freed before it.
use cuprum::{Buffer, Current};

fn wrong(cx: &Current<'_, '_>, buffer: Buffer<'_, f32>) {
    let part = buffer.slice(..4).unwrap();
    drop(buffer);
    let _host = part.to_vec(cx);
}

fn main() {}
