// A level of a mipmapped array is a part of it.
use cuprum::Current;
use cuprum::memory::MipmappedArray;

fn wrong(cx: &Current<'_, '_>, mipmapped: MipmappedArray<'_, f32>) {
    let level = mipmapped.view().level(cx, 1).unwrap();
    drop(mipmapped);
    level.all().to_vec(cx).unwrap();
}

fn main() {}
