// The caller guarantees that nothing else uses the tiles that get memory: the driver does not wait.
use cuprum::memory::TileMap;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, maps: &[TileMap<'_>]) {
    stream.map_tiles(cx, maps).unwrap();
}

fn main() {}
