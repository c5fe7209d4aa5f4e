// A loan to a request's work does not leave its body.
use cuprum::memory::SliceMut;
use cuprum::stream::{Lent, Request};
use cuprum::{Buffer, Current, MemoryError, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, request: Request<Buffer<'static, f32>>) {
    let mut kept: Option<Lent<'_, SliceMut<'_, f32>>> = None;
    let _pending = request.submit(cx, stream, |scope, buffer| -> Result<(), MemoryError> {
        kept = Some(scope.lend(buffer.as_mut_slice())?);
        Ok(())
    });
}

fn main() {}
