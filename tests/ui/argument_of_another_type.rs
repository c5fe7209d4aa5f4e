// An argument has the type of the signature: nothing is converted on the way.
use cuprum::{Current, Kernel, LaunchConfig, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, kernel: &Kernel<'_, (u32, f32)>) {
    let _ = unsafe { kernel.launch(cx, stream, LaunchConfig::new(1, 1), (1usize, 2f32)) };
}

fn main() {}
