// Elements of a buffer are passed with their own type.
use cuprum::{Buffer, Current, In, Kernel, LaunchConfig, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, kernel: &Kernel<'_, (In<f32>,)>, bytes: &Buffer<'_, u8>) {
    let _ = unsafe { kernel.launch(cx, stream, LaunchConfig::new(1, 1), (bytes,)) };
}

fn main() {}
