//! Compares the plain Rust references with the results of a real GPU for the same inputs.

use std::path::Path;

use crate::kernels::{cases, golden};

#[test]
fn references_agree_with_the_recorded_gpu() {
    // Relative, as this program also runs in a copy of the repository at another path.
    let goldens = golden::read(Path::new("tests/data/goldens/kernels.txt"));
    let cases = cases::all();
    assert_eq!(goldens.len(), cases.len(), "the record holds other cases than the list");
    for case in cases {
        let golden = goldens.get(case.name).unwrap_or_else(|| panic!("no record of {}", case.name));
        assert_eq!(golden.input_hash, case.input_hash(), "{} was recorded for other inputs", case.name);
        assert_eq!(golden.outputs.len(), case.expected().count(), "outputs of {}", case.name);
        for (index, (expected, actual)) in case.expected().zip(&golden.outputs).enumerate() {
            if let Err(difference) = expected.check(actual) {
                panic!("{}, output {index}: {difference}", case.name);
            }
        }
    }
}
