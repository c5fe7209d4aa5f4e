// An array that a copy reads or writes cannot go before the scope has waited.
use cuprum::memory::{Array, HostBlock};
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, array: Array<'_, f32>, host: &[f32]) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(array.view().all()).unwrap();
        scope.copy(&lent, &HostBlock::new(host, 4).unwrap()).unwrap();
        drop(array);
        Ok(())
    })
    .unwrap();
}

fn main() {}
