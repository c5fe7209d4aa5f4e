// Page-locked memory outside a request cannot be lent to its work.
use cuprum::stream::Request;
use cuprum::{Buffer, Current, MemoryError, PinnedBuffer, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    request: Request<Buffer<'static, f32>>,
    mut host: PinnedBuffer<'static, f32>,
) {
    let _pending = request.submit(cx, stream, |scope, buffer| -> Result<(), MemoryError> {
        scope.copy(&scope.lend(&mut host)?, &scope.lend(buffer.as_mut_slice())?)
    });
    println!("{}", host[0]);
}

fn main() {}
