// Only this crate takes a place apart: hidden methods cannot be called through a bound.
use cuprum::memory::{Source, Target};

fn wrong<D: Target, S: Source<f32>>(to: &mut D, from: &S) {
    let _to = to.as_target();
    let _from = from.as_source(Default::default());
    let _from = from.as_source(cuprum::raw::seal::Key::new());
}

fn main() {}
