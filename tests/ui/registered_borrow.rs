// Registered memory is owned: a forgotten borrow would leave the device with freed memory.
use cuprum::memory::{RegisterFlags, Registered};
use cuprum::Current;

fn wrong(cx: &Current<'_, '_>, host: &mut [f32]) {
    let _registered = Registered::new(cx, host, RegisterFlags::empty());
}

fn main() {}
