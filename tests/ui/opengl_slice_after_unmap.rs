// A slice of a mapped buffer of OpenGL ends when the buffer is unmapped.
use cuprum::graphics::{self, RegisteredBuffer};
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, mut vertices: RegisteredBuffer<'_>) {
    let mut mapped = graphics::map(cx, stream, &mut vertices).unwrap();
    let view = mapped.views();
    let slice = view.as_slice::<f32>(cx).unwrap();
    mapped.unmap(cx).unwrap();
    slice.to_vec(cx).unwrap();
}

fn main() {}
