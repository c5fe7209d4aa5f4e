// An operation on numbers cannot write memory that a graph was lent to read.
use cuprum::In;
use cuprum::graph::{Capture, Loan};

fn wrong(capture: &Capture<'_, '_, '_>, memory: Loan<In<u32>>) {
    capture.write_value(memory, 0, 1).unwrap();
}

fn main() {}
