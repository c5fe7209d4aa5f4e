// Memory that is borrowed to be read can be neither copied to nor filled.
use cuprum::memory::Slice;
use cuprum::Current;

fn wrong(cx: &Current<'_, '_>, mut to: Slice<'_, f32>, from: &[f32]) {
    cx.copy(&mut to, from).unwrap();
    cx.fill(&mut to, 1.0).unwrap();
}

fn main() {}
