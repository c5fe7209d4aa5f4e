// A struct without lifetimes: the documentation of the types named has the answer.
use cuprum::context::Context;
use cuprum::stream::Event;
use cuprum::{Buffer, Kernel, Module, Stream};

struct App {
    context: Context,
    module: Module,
    kernel: Kernel<(u32,)>,
    stream: Stream,
    event: Event,
    buffer: Buffer<f32>,
}

fn main() {}
