// Bytes from a device can have any value, so they are no `bool`, and no reference.
use cuprum::{Buffer, Current};

fn wrong(cx: &Current<'_, '_>) {
    let _flags = Buffer::<bool>::zeroed(cx, 16);
    let _references = Buffer::<&'static u8>::zeroed(cx, 16);
}

fn main() {}
