// A guard of mapped resources unmaps on its stream, which is dropped after it.
use cuprum::graphics::RegisteredBuffer;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, mut vertices: RegisteredBuffer<'_>) {
    let stream = Stream::new(cx).unwrap();
    let mapped = vertices.map(cx, &stream).unwrap();
    drop(stream);
    mapped.unmap(cx).unwrap();
}

fn main() {}
