// Managed memory that is lent to a scope is not the host's before the scope has waited.
use cuprum::memory::ManagedBuffer;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, memory: &mut ManagedBuffer<'_, f32>) {
    cx.scope(stream, |scope| {
        let lent = scope.lend(memory.as_mut_slice()).unwrap();
        scope.fill(&lent, 1.0).unwrap();
        println!("{}", memory.host(cx).unwrap()[0]);
        Ok(())
    })
    .unwrap();
}

fn main() {}
