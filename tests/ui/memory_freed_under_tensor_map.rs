// Memory under a tensor map does not go before it.
use cuprum::texture::{TensorLayout, TensorMap};
use cuprum::{Buffer, Current};

fn wrong(cx: &Current<'_, '_>, buffer: Buffer<'_, f32>, tensor: &TensorLayout<'_>) {
    let map = TensorMap::tiled(cx, buffer.as_slice(), tensor, &[32, 8]).unwrap();
    drop(buffer);
    drop(map);
}

fn main() {}
