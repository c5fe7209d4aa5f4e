// A slice of other code's memory ends before it is given back.
use cuprum::memory::ForeignBuffer;
use cuprum::Current;

fn wrong(cx: &Current<'_, '_>, buffer: ForeignBuffer<'_, u8>) {
    let slice = buffer.as_slice();
    buffer.close().unwrap();
    slice.to_vec(cx).unwrap();
}

fn main() {}
