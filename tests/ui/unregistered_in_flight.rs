// Memory is not unregistered during a copy.
use cuprum::{Buffer, Current, Registered, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mut host: Registered<'_, Vec<f32>>,
    buffer: &mut Buffer<'_, f32>,
) {
    cx.scope(stream, |scope| {
        let device = scope.lend(buffer.as_mut_slice()).unwrap();
        let lent = scope.lend_host(&mut host).unwrap();
        lent.copy_from(&device).unwrap();
        let _vec = host.unregister();
    })
    .unwrap();
}

fn main() {}
