// The linker owns the linked code, which ends with it.
use cuprum::module::Linked;

fn wrong(linked: Linked<'_>) -> usize {
    let image = linked.as_bytes();
    linked.close().unwrap();
    image.len()
}

fn main() {}
