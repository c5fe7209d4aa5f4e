// A graph is used by one thread at a time.
use cuprum::graph::GraphExec;

fn shared<T: Sync>(_: &T) {}

fn wrong(executable: &GraphExec<'_>) {
    shared(executable);
}

fn main() {}
