// A texture reads its array, which cannot go before it.
use cuprum::Current;
use cuprum::memory::Array;
use cuprum::texture::{Sampler, Texture};

fn wrong(cx: &Current<'_, '_>, array: Array<'_, f32>) {
    let texture = Texture::new(cx, &array, &Sampler::default()).unwrap();
    drop(array);
    drop(texture);
}

fn main() {}
