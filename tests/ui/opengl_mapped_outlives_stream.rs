// A guard of mapped resources unmaps on its stream, which is dropped after it.
use cuprum::graphics::{self, RegisteredBuffer};
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, mut vertices: RegisteredBuffer<'_>) {
    let stream = Stream::new(cx).unwrap();
    let mapped = graphics::map(cx, &stream, &mut vertices).unwrap();
    drop(stream);
    mapped.unmap(cx).unwrap();
}

fn main() {}
