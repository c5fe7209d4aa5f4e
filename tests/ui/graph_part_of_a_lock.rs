// A part of a shared value is found by a shared borrow: a value that a lock protects is not shared.
use std::sync::{Arc, Mutex};

use cuprum::Buffer;
use cuprum::graph::{Graph, Part};

fn wrong(graph: &mut Graph<'static>, weights: &Arc<Mutex<Buffer<'static, f32>>>) {
    graph.lend(Part::of(weights, |weights| weights.lock().unwrap().as_slice())).unwrap();
}

fn another<'a>(graph: &mut Graph<'static>, whole: &Arc<()>, other: &'a Buffer<'static, f32>) {
    graph.lend(Part::of(whole, |_| other.as_slice())).unwrap();
}

fn main() {}
