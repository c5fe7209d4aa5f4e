// A launch has as many arguments as the signature.
use cuprum::{Current, Kernel, LaunchConfig, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, kernel: &Kernel<'_, (u32, f32)>) {
    let _ = unsafe { kernel.launch(cx, stream, LaunchConfig::new(1, 1), (1u32,)) };
}

fn main() {}
