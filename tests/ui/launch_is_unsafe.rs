// A kernel is foreign code: the caller guarantees its effects.
use cuprum::{Current, Kernel, LaunchConfig, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, kernel: &Kernel<'_, (u32,)>) {
    let _ = kernel.launch(cx, stream, LaunchConfig::new(1, 1), (7u32,));
}

fn main() {}
