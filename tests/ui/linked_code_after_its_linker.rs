// The linked code lies in the linker, and goes with it.
use cuprum::module::Linked;

fn wrong(linked: Linked<'_>) -> usize {
    let image = linked.as_bytes();
    linked.close().unwrap();
    image.len()
}

fn main() {}
