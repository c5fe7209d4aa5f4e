// A struct that says nothing of lifetimes: the documentation of the types named says what to do.
use cuprum::{Buffer, Context, Event, Kernel, Module, Stream};

struct App {
    context: Context,
    module: Module,
    kernel: Kernel<(u32,)>,
    stream: Stream,
    event: Event,
    buffer: Buffer<f32>,
}

fn main() {}
