// A buffer that a kernel writes is borrowed mutably.
use cuprum::{Buffer, Current, InOut, Kernel, LaunchConfig, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, kernel: &Kernel<'_, (InOut<f32>,)>, out: &Buffer<'_, f32>) {
    let _ = unsafe { kernel.launch(cx, stream, LaunchConfig::new(1, 1), (out,)) };
}

fn main() {}
