// Only the other process can promise to keep the memory.
use cuprum::Current;
use cuprum::memory::{ForeignBuffer};

fn wrong(cx: &Current<'_, '_>, handle: [u8; 64]) {
    let opened = ForeignBuffer::<f32>::open_ipc(cx, handle).unwrap();
    opened.as_slice().to_vec(cx).unwrap();
}

fn main() {}
