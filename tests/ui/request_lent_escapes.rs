// What is lent to a request's work does not leave its body.
use cuprum::{Buffer, Current, Error, Lent, Request, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, request: Request<Buffer<'static, f32>>) {
    let mut kept: Option<Lent<'_, f32>> = None;
    let _pending = request.submit(cx, stream, |scope, buffer| -> Result<(), Error> {
        kept = Some(scope.lend(buffer.as_mut_slice())?);
        Ok(())
    });
}

fn main() {}
