// Memory under a texture can neither go nor be written before it.
use cuprum::memory::PitchedBuffer;
use cuprum::texture::{Sampler, Texture};
use cuprum::{Buffer, Current};

fn freed(cx: &Current<'_, '_>, linear: Buffer<'_, f32>) {
    let texture = Texture::new(cx, &linear, &Sampler::default()).unwrap();
    drop(linear);
    drop(texture);
}

fn written(cx: &Current<'_, '_>, mut rows: PitchedBuffer<'_, f32>) {
    let texture = Texture::new(cx, &rows, &Sampler::default()).unwrap();
    cx.fill(&mut rows, 1.0).unwrap();
    drop(texture);
}

fn main() {}
