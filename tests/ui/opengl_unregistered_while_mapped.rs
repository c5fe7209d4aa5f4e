// A buffer of OpenGL is neither unregistered nor mapped again while it is mapped.
use cuprum::graphics::{self, RegisteredBuffer};
use cuprum::{Current, Stream};

fn unregister(cx: &Current<'_, '_>, stream: &Stream<'_>, mut vertices: RegisteredBuffer<'_>) {
    let mapped = graphics::map(cx, stream, &mut vertices).unwrap();
    drop(vertices);
    mapped.unmap(cx).unwrap();
}

fn map_again(cx: &Current<'_, '_>, stream: &Stream<'_>, mut vertices: RegisteredBuffer<'_>) {
    let mapped = graphics::map(cx, stream, &mut vertices).unwrap();
    graphics::map(cx, stream, &mut vertices).unwrap();
    mapped.unmap(cx).unwrap();
}

fn main() {}
