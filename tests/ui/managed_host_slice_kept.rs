// A loan of managed memory to the host outlives neither the memory nor the closure of the loan.
use cuprum::Current;
use cuprum::memory::ManagedBuffer;

fn wrong(cx: &Current<'_, '_>, mut memory: ManagedBuffer<'_, f32>) {
    let mut kept: Option<&mut [f32]> = None;
    memory.on_host(cx, |host| kept = Some(host)).unwrap();
    let host = memory.host(cx).unwrap();
    drop(memory);
    println!("{}", host[0]);
}

fn main() {}
