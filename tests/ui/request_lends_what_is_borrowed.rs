// Only memory that a request owns can be lent to its work.
use cuprum::stream::Request;
use cuprum::{Buffer, Current, MemoryError, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, request: Request<Buffer<'static, f32>>, host: &[f32]) {
    let _pending = request.submit(cx, stream, |scope, buffer| -> Result<(), MemoryError> {
        scope.copy(&scope.lend(buffer.as_mut_slice())?, host)
    });
}

fn main() {}
