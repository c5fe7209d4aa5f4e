// A mapping of imported memory borrows the import.
use cuprum::Current;
use cuprum::external::ExternalMemory;
use cuprum::memory::ForeignBuffer;

fn wrong(cx: &Current<'_, '_>, memory: ExternalMemory<'_>) {
    let mapped: ForeignBuffer<'_, f32> = unsafe { memory.map(cx, 0, 16) }.unwrap();
    drop(memory);
    mapped.as_slice().to_vec(cx).unwrap();
}

fn main() {}
