// A buffer of OpenGL is neither unregistered nor mapped again while it is mapped.
use cuprum::graphics::RegisteredBuffer;
use cuprum::{Current, Stream};

fn unregister(cx: &Current<'_, '_>, stream: &Stream<'_>, mut vertices: RegisteredBuffer<'_>) {
    let mapped = vertices.map(cx, stream).unwrap();
    drop(vertices);
    mapped.unmap(cx).unwrap();
}

fn map_again(cx: &Current<'_, '_>, stream: &Stream<'_>, mut vertices: RegisteredBuffer<'_>) {
    let mapped = vertices.map(cx, stream).unwrap();
    vertices.map(cx, stream).unwrap();
    mapped.unmap(cx).unwrap();
}

fn main() {}
