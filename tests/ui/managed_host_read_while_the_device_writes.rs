// What the host was lent of managed memory is gone before the device may write it.
use cuprum::Current;
use cuprum::memory::ManagedBuffer;

fn wrong(cx: &Current<'_, '_>, memory: &mut ManagedBuffer<'_, f32>) {
    let host = memory.host(cx).unwrap();
    memory.as_mut_slice().fill(cx, 1.0).unwrap();
    println!("{}", host[0]);
}

fn main() {}
