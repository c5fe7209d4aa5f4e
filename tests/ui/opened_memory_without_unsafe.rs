// Only the other process can promise to keep the memory.
use cuprum::Current;
use cuprum::memory::{IpcBuffer, IpcMemHandle};

fn wrong(cx: &Current<'_, '_>, handle: IpcMemHandle) {
    let opened = IpcBuffer::<f32>::open(cx, handle).unwrap();
    opened.as_slice().to_vec(cx).unwrap();
}

fn main() {}
