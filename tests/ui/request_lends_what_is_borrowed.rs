// Nothing but what a request owns can be lent to its work.
use cuprum::{Buffer, Current, MemoryError, Request, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, request: Request<Buffer<'static, f32>>, host: &[f32]) {
    let _pending = request.submit(cx, stream, |scope, buffer| -> Result<(), MemoryError> {
        scope.lend(buffer.as_mut_slice())?.copy_from_host(host)
    });
}

fn main() {}
