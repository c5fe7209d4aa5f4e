// A finished linker takes no more inputs.
use cuprum::module::Linker;

fn wrong(mut linker: Linker<'_>) {
    let _linked = linker.complete().unwrap();
    linker.add_ptx("late", "").unwrap();
}

fn main() {}
