//! Makes a program that fails short.

use std::fmt::Write;
use std::ops::Range;

use super::element::Element;
use super::model::Model;
use super::step::Step;

/// Programs that are tried while many steps are left.
const TRIES: usize = 600;
/// Of so many steps and fewer, every choice is tried.
const FEW: usize = 10;

/// Runs the steps one at a time if the program still fails then. Steps in a fixed order fail each
/// time or never, and a program that fails now and then would be kept longer than necessary. Then
/// leaves out as many steps as possible, and selects the fewest of the rest. Returns the program
/// and its failure.
pub(crate) fn shorten<T: Element>(
    program: &[Step],
    failure: String,
    fails: impl Fn(&[Step]) -> Option<String>,
) -> (Vec<Step>, String) {
    let mut short = Short { program: sensible::<T>(program), failure, fails, tries: 0 };
    short.let_run_alone(0..short.program.len());
    short.leave_out::<T>();
    // If a failure needs concurrent steps, runs as few of them concurrently as possible; without
    // the others it may become shorter still.
    let alone = (0..short.program.len()).filter(|&number| short.let_run_alone(number..number + 1));
    if alone.count() > 0 {
        short.leave_out::<T>();
    }
    short.take_fewest::<T>();
    (short.program, short.failure)
}

/// A program that fails, and how.
struct Short<F> {
    program: Vec<Step>,
    failure: String,
    fails: F,
    tries: usize,
}

impl<F: Fn(&[Step]) -> Option<String>> Short<F> {
    /// Takes another program in place of this one, if it fails.
    fn replace(&mut self, other: Vec<Step>) -> bool {
        self.tries += 1;
        let Some(failure) = (self.fails)(&other) else { return false };
        (self.program, self.failure) = (other, failure);
        true
    }

    /// Has some steps end before others begin, if it still fails; false if all do already.
    fn let_run_alone(&mut self, steps: Range<usize>) -> bool {
        let mut alone = self.program.clone();
        alone[steps].iter_mut().for_each(|step| step.beside = false);
        alone != self.program && self.replace(alone)
    }

    /// Leaves out as many steps as still let it fail: first many at a time, then each, until none
    /// can be.
    fn leave_out<T: Element>(&mut self) {
        let mut at_once = self.program.len().div_ceil(2);
        while at_once > 0 {
            let (mut start, before) = (0, self.program.len());
            while start < self.program.len() && self.tries < TRIES {
                let end = (start + at_once).min(self.program.len());
                let without = sensible::<T>(&[&self.program[..start], &self.program[end..]].concat());
                if !self.replace(without) {
                    start = end;
                }
            }
            let again = at_once == 1 && self.program.len() < before;
            at_once = if again { 1 } else { at_once / 2 };
        }
    }

    /// Selects the fewest steps that still fail, if few are left. Removing single steps is not
    /// enough where several can be removed together: a mistake that shows by itself no longer shows
    /// next to a step that waits, until a third step hides the wait.
    fn take_fewest<T: Element>(&mut self) {
        let steps = self.program.len();
        if steps > FEW {
            return;
        }
        let mut choices: Vec<u32> = (1..(1 << steps) - 1).collect();
        choices.sort_by_key(|choice| choice.count_ones());
        for choice in choices {
            let chosen = self.program.iter().enumerate().filter(|(number, _)| choice >> number & 1 == 1);
            let chosen: Vec<Step> = chosen.map(|(_, step)| *step).collect();
            // With steps that make no sense there, it has been tried without them.
            if sensible::<T>(&chosen).len() == chosen.len() && self.replace(chosen) {
                return;
            }
        }
    }
}

/// The steps that make sense in their place; the others do not run anyway.
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
