// A buffer is freed once.
use cuprum::Buffer;

fn wrong(buffer: Buffer<'_, f32>) {
    buffer.close().unwrap();
    drop(buffer);
}

fn main() {}
