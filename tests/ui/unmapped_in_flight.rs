// Memory that is lent to a scope is not unmapped before the scope has waited.
use cuprum::memory::Mapping;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, mut mapping: Mapping<'_, f32>) {
    cx.scope(stream, |scope| {
        scope.fill(&scope.lend(mapping.as_mut_slice()).unwrap(), 1.0).unwrap();
        drop(mapping);
        Ok(())
    })
    .unwrap();
}

fn main() {}
