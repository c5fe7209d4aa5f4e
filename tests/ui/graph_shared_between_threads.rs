// A graph is used by one thread at a time.
use cuprum::graph::Executable;

fn shared<T: Sync>(_: &T) {}

fn wrong(executable: &Executable<'_>) {
    shared(executable);
}

fn main() {}
