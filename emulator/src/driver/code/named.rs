//! A program with an index of its names, for fast lookup in programs with many kernels.

use core::ops::Deref;
use std::collections::HashMap;

use crate::program::Program;

#[derive(Debug)]
pub(crate) struct Named {
    program: Program,
    kernels: HashMap<Box<str>, usize>,
    globals: HashMap<Box<str>, usize>,
}

impl Named {
    pub(super) fn new(program: Program) -> Self {
        fn index<'a>(names: impl Iterator<Item = (usize, &'a str)>) -> HashMap<Box<str>, usize> {
            let mut index = HashMap::new();
            for (at, name) in names {
                // The first definition of a name counts.
                index.entry(name.into()).or_insert(at);
            }
            index
        }
        let kernels = index(program.kernels().iter().map(|kernel| kernel.name()).enumerate());
        // A variable of one input of a link may have the name of a visible one.
        let (visible, own): (Vec<_>, Vec<_>) =
            program.globals().iter().enumerate().partition(|(_, global)| global.visible);
        let globals = visible.into_iter().chain(own).map(|(at, global)| (at, global.name.as_str()));
        let globals = index(globals);
        Self { program, kernels, globals }
    }

    pub(crate) fn kernel(&self, name: &str) -> Option<usize> {
        self.kernels.get(name).copied()
    }

    pub(super) fn global(&self, name: &str) -> Option<usize> {
        self.globals.get(name).copied()
    }
}

impl Deref for Named {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}
