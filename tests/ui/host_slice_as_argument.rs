// A host slice is no argument of a kernel: the device cannot read it.
use cuprum::{Current, In, Kernel, LaunchConfig, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, kernel: &Kernel<'_, (In<f32>,)>, host: &[f32]) {
    let _ = unsafe { kernel.launch(cx, stream, LaunchConfig::new(1, 1), (host,)) };
}

fn main() {}
