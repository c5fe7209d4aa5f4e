//! Makes a program that fails short.

use std::fmt::Write;

use super::element::Element;
use super::model::Model;
use super::step::Step;

/// Runs that shortening may take.
const TRIES: usize = 600;

/// Leaves out as many steps as still let it fail: first many at a time, then each. Then lets as few as can be run beside
/// others. Answers the program and how it fails.
pub(crate) fn shorten<T: Element>(
    program: &[Step],
    failure: String,
    fails: impl Fn(&[Step]) -> Option<String>,
) -> (Vec<Step>, String) {
    let (mut program, mut failure) = (sensible::<T>(program), failure);
    let (mut at_once, mut tries) = (program.len() / 2, 0);
    while at_once > 0 {
        let (mut start, before) = (0, program.len());
        while start < program.len() && tries < TRIES {
            tries += 1;
            let end = (start + at_once).min(program.len());
            let without = sensible::<T>(&[&program[..start], &program[end..]].concat());
            match fails(&without) {
                Some(how) => (program, failure) = (without, how),
                None => start = end,
            }
        }
        let again = at_once == 1 && program.len() < before && tries < TRIES;
        at_once = if again { 1 } else { at_once / 2 };
    }
    for number in 0..program.len() {
        let mut alone = program.clone();
        alone[number].beside = false;
        if let Some(how) = fails(&alone) {
            (program, failure) = (alone, how);
        }
    }
    (program, failure)
}

/// The steps that make sense where they stand; the others are not run anyway.
fn sensible<T: Element>(program: &[Step]) -> Vec<Step> {
    let mut model = Model::<T>::new();
    let steps = program.iter().enumerate();
    steps.filter(|(number, step)| model.apply(*number, step).is_some()).map(|(_, step)| *step).collect()
}

/// The steps, one per line.
pub(crate) fn text(program: &[Step]) -> String {
    program.iter().enumerate().fold(String::new(), |mut text, (number, step)| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {number:3}  {step}");
        text
    })
}
