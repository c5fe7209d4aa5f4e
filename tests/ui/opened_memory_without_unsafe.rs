// Only the other process can promise to keep the memory.
use cuprum::Current;
use cuprum::memory::{IpcBuffer};

fn wrong(cx: &Current<'_, '_>, handle: [u8; 64]) {
    let opened = IpcBuffer::<f32>::open(cx, handle).unwrap();
    opened.as_slice().to_vec(cx).unwrap();
}

fn main() {}
