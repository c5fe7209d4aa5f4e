// What is registered is owned: a borrow that is forgotten would leave the device with memory that is gone.
use cuprum::{Current, RegisterFlags, Registered};

fn wrong(cx: &Current<'_, '_>, host: &mut [f32]) {
    let _registered = Registered::new(cx, host, RegisterFlags::empty());
}

fn main() {}
