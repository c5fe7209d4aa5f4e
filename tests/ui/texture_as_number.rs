// A texture is an argument of a type of its own, not a number, and no surface is one.
use cuprum::texture::{Surface, Texture, TextureObject};
use cuprum::{Current, Kernel, LaunchConfig, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    kernel: Kernel<'_, (TextureObject,)>,
    texture: &Texture<'_>,
    surface: &Surface<'_>,
) {
    unsafe { kernel.launch(cx, stream, LaunchConfig::new(1, 1), (texture.as_raw(),)) }.unwrap();
    unsafe { kernel.launch(cx, stream, LaunchConfig::new(1, 1), (surface,)) }.unwrap();
}

fn main() {}
