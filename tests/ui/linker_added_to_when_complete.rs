// Nothing is added to what is linked.
use cuprum::module::Linker;

fn wrong(mut linker: Linker<'_>) {
    let _linked = linker.complete().unwrap();
    linker.add_ptx("late", "").unwrap();
}

fn main() {}
