// A freed buffer cannot be used.
use cuprum::{Buffer, Current};

fn wrong(cx: &Current<'_, '_>, buffer: Buffer<'_, f32>) {
    drop(buffer);
    let _host = buffer.to_vec(cx);
}

fn main() {}
