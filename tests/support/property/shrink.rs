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

/// Lets no step run beside others, if it still fails then: steps in a fixed order fail each time or never, and what fails
/// now and then would be kept longer than it need be. Then leaves out as many steps as it can, and takes the fewest of those
/// that are left. Answers the program and how it fails.
pub(crate) fn shorten<T: Element>(
    program: &[Step],
    failure: String,
    fails: impl Fn(&[Step]) -> Option<String>,
) -> (Vec<Step>, String) {
    let mut short = Short { program: sensible::<T>(program), failure, fails, tries: 0 };
    short.let_run_alone(0..short.program.len());
    short.leave_out::<T>();
    // Of what only fails beside other steps, as few as can be run so; without the others it may be still shorter.
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

    /// Leaves out as many steps as still let it fail: first many at a time, then each, until none can be.
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

    /// Takes the fewest of its steps that fail, if few are left. None may be one that can be left out by itself where several
    /// can together: a mistake that shows by itself shows no longer beside a step that waits, until a third hides the wait.
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
