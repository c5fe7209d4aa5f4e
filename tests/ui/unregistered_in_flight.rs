// Memory is not unregistered during a copy.
use cuprum::memory::Registered;
use cuprum::{Buffer, Current, Stream};

fn wrong(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    mut host: Registered<'_, Vec<f32>>,
    buffer: &mut Buffer<'_, f32>,
) {
    cx.scope(stream, |scope| {
        let device = scope.lend(buffer.as_mut_slice()).unwrap();
        let lent = scope.lend(&mut host).unwrap();
        scope.copy(&lent, &device).unwrap();
        let _vec = host.unregister();
        Ok(())
    })
    .unwrap();
}

fn main() {}
