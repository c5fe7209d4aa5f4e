// A context outlives the mappings that were made in it.
use cuprum::memory::{Mapping, PhysicalMemory, Reservation};
use cuprum::context::{Context, ContextStack};

fn wrong(stack: &mut ContextStack, context: Context, addresses: Reservation, memory: PhysicalMemory) {
    let cx = stack.push(&context).unwrap();
    let mapping: Mapping<'_, f32> = addresses.map(&cx, 0, &memory).unwrap();
    drop(cx);
    drop(context);
    drop(mapping);
}

fn main() {}
