// Memory is not unmapped while a part of it is borrowed, neither all of it nor the part mapped
// last.
use cuprum::Current;
use cuprum::memory::Mapping;

fn wrong(cx: &Current<'_, '_>, mut mapping: Mapping<'_, f32>) {
    let slice = mapping.as_slice();
    mapping.unmap_last().unwrap();
    slice.to_vec(cx).unwrap();
    let slice = mapping.as_slice();
    mapping.close().unwrap();
    slice.to_vec(cx).unwrap();
}

fn main() {}
