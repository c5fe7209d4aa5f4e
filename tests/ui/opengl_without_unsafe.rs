// Registering a buffer of OpenGL is a promise about what OpenGL does.
use cuprum::Current;
use cuprum::graphics::{RegisterFlags, RegisteredBuffer};

fn wrong(cx: &Current<'_, '_>) {
    RegisteredBuffer::new(cx, 1, RegisterFlags::empty()).unwrap();
}

fn main() {}
