//! Makes a program that fails short.

use std::fmt::Write;

use super::step::Step;

/// Runs that shortening may take.
const TRIES: usize = 600;

/// Leaves out as many steps as still let it fail: first many at a time, then each. Answers the program and how it fails.
pub(crate) fn shorten(
    program: &[Step],
    failure: String,
    fails: impl Fn(&[Step]) -> Option<String>,
) -> (Vec<Step>, String) {
    let (mut program, mut failure) = (program.to_vec(), failure);
    let (mut at_once, mut tries) = (program.len() / 2, 0);
    while at_once > 0 {
        let (mut start, before) = (0, program.len());
        while start < program.len() && tries < TRIES {
            tries += 1;
            let end = (start + at_once).min(program.len());
            let without = [&program[..start], &program[end..]].concat();
            match fails(&without) {
                Some(how) => (program, failure) = (without, how),
                None => start = end,
            }
        }
        let again = at_once == 1 && program.len() < before && tries < TRIES;
        at_once = if again { 1 } else { at_once / 2 };
    }
    (program, failure)
}

/// The steps, one a line.
pub(crate) fn text(program: &[Step]) -> String {
    program.iter().enumerate().fold(String::new(), |mut text, (number, step)| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {number:3}  {step}");
        text
    })
}
