// Registering a buffer of OpenGL is a promise about OpenGL's use of it.
use cuprum::Current;
use cuprum::graphics::{RegisterFlags, RegisteredBuffer};

fn wrong(cx: &Current<'_, '_>) {
    RegisteredBuffer::new(cx, 1, RegisterFlags::empty()).unwrap();
}

fn main() {}
