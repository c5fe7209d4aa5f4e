// Device memory is no slice of the host: it is copied, not dereferenced.
use cuprum::Buffer;

fn wrong(buffer: &Buffer<'_, f32>) {
    let _first = buffer[0];
    let _all: &[f32] = buffer;
}

fn main() {}
