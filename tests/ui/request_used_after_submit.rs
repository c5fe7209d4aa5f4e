// What was submitted is the device's until it comes back.
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Request, Stream};

type Slot = (PinnedBuffer<'static, f32>, Buffer<'static, f32>);

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, request: Request<Slot>) {
    let _pending = request.submit(cx, stream, |scope, (host, buffer)| -> Result<(), MemoryError> {
        scope.lend_host(host)?.copy_from(&scope.lend(buffer.as_mut_slice())?)
    });
    println!("{}", request.0[0]);
}

fn main() {}
