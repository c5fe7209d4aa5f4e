// A release function runs when the memory is dropped: it borrows nothing that is dropped sooner.
use cuprum::memory::ForeignBuffer;
use cuprum::Current;

fn wrong<'ctx>(cx: &Current<'_, 'ctx>) -> ForeignBuffer<'ctx, u8> {
    let owner = vec![0u8; 16];
    let release = |_: &cuprum::ContextRef, _| Ok(drop(owner.as_slice()));
    unsafe { ForeignBuffer::with_release(cx, 0, 16, release) }.unwrap()
}

fn main() {}
