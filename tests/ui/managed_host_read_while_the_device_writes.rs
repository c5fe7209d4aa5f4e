// A loan of managed memory to the host ends before the device may write the memory.
use cuprum::Current;
use cuprum::memory::ManagedBuffer;

fn wrong(cx: &Current<'_, '_>, memory: &mut ManagedBuffer<'_, f32>) {
    let host = memory.host(cx).unwrap();
    cx.fill(memory, 1.0).unwrap();
    println!("{}", host[0]);
}

fn main() {}
