// What gives memory back runs when the memory goes: it borrows nothing that goes sooner.
use cuprum::{Current, ForeignBuffer};

fn wrong<'ctx>(cx: &Current<'_, 'ctx>) -> ForeignBuffer<'ctx, u8> {
    let owner = vec![0u8; 16];
    let release = |_: &cuprum::ContextRef, _| Ok(drop(owner.as_slice()));
    unsafe { ForeignBuffer::with_release(cx, 0, 16, release) }.unwrap()
}

fn main() {}
