//! Declarations, directives and calls that are no PTX, or that are although they look wrong.
//!
//! Each line of `declarations.txt` is a module without its header. `+` precedes one that NVIDIA's
//! assembler accepts, `-` one that it refuses; the test in `ptxas` asks it. An H200 answered alike
//! (driver 580, 2026-11-29), but for four lines: its driver ends with a fault on a variable with
//! the name of a function and on a local variable at module scope, and takes a register there.

use cuprum_ptx::program::{LoadOptions, Program};

/// Returns all modules, and whether each is correct.
pub(crate) fn all() -> Vec<(String, bool)> {
    let modules = include_str!("declarations.txt").lines().map(|line| {
        let text = line.strip_prefix("+ ").or(line.strip_prefix("- ")).expect("a sign before each module");
        (format!(".version 8.4\n.target sm_90\n.address_size 64\n{text}\n"), line.starts_with('+'))
    });
    modules.collect()
}

#[test]
fn correct_declarations_load_and_others_are_refused() {
    let mut wrong = String::new();
    for (text, is_correct) in all() {
        let error = Program::load(&text, &LoadOptions::default()).err();
        if error.is_none() != is_correct {
            wrong += &format!("{error:?}\n{text}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
