// Rows that are lent to a scope are used by its stream alone.
use cuprum::memory::PitchedBuffer;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, mut rows: PitchedBuffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(rows.as_pitched_mut()).unwrap();
        cx.fill(&mut rows, 1.0).unwrap();
        scope.fill(&lent, 2.0).unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
