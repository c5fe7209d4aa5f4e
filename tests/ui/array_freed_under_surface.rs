// A surface writes its array, which cannot go before it.
use cuprum::Current;
use cuprum::memory::Array;
use cuprum::texture::Surface;

fn wrong(cx: &Current<'_, '_>, array: Array<'_, f32>) {
    let surface = Surface::new(cx, &array).unwrap();
    array.close().unwrap();
    drop(surface);
}

fn main() {}
