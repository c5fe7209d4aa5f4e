// A texture that is lent to a scope, for kernels that it launches, cannot go before the scope has
// waited.
use cuprum::texture::Texture;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, texture: Texture<'_>) {
    cx.scope(stream, |scope| {
        let _lent = scope.lend(&texture).unwrap();
        drop(texture);
        Ok(())
    })
    .unwrap();
}

fn main() {}
