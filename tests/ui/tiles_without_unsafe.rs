// Who gives memory to tiles says that nothing else uses them: the driver does not wait.
use cuprum::memory::TileMap;
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, maps: &[TileMap<'_>]) {
    stream.map_tiles(cx, maps).unwrap();
}

fn main() {}
