// An array of a mapped image of OpenGL ends with the guard, and so does a surface of the array.
use cuprum::Current;
use cuprum::graphics::{self, MappedImage, RegisteredImage};
use cuprum::stream::Stream;
use cuprum::texture::Surface;

fn write(_: &Surface<'_>) {}

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, mut picture: RegisteredImage<'_>) {
    let mut mapped = graphics::map(cx, stream, &mut picture).unwrap();
    let view: MappedImage<'_> = mapped.views();
    let surface = Surface::new(cx, view.array::<u32>(cx, 0, 0).unwrap()).unwrap();
    drop(mapped);
    write(&surface);
}

fn main() {}
