// The device owns a submitted request until it comes back.
use cuprum::stream::Request;
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Stream};

type Slot = (PinnedBuffer<'static, f32>, Buffer<'static, f32>);

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, request: Request<Slot>) {
    let _pending = request.submit(cx, stream, |scope, (host, buffer)| -> Result<(), MemoryError> {
        scope.copy(&scope.lend(host)?, &scope.lend(buffer.as_mut_slice())?)
    });
    println!("{}", request.0[0]);
}

fn main() {}
