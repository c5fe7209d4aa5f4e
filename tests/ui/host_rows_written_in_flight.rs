// Rows of the host that are copied by a scope stay as they are until it has waited.
use cuprum::memory::{HostBlock, PitchedBuffer};
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, mut rows: PitchedBuffer<'_, u8>) {
    let mut host = [1; 4];
    cx.scope(stream, |scope| {
        let lent = scope.lend(rows.as_pitched_mut()).unwrap();
        scope.copy(&lent, &HostBlock::new(&host, (2, 2)).unwrap()).unwrap();
        host[0] = 2;
        Ok(())
    })
    .unwrap();
}

fn main() {}
