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
        fn index<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<Box<str>, usize> {
            let mut index = HashMap::new();
            for (at, name) in names.enumerate() {
                // The first definition of a name counts.
                index.entry(name.into()).or_insert(at);
            }
            index
        }
        let kernels = index(program.kernels().iter().map(|kernel| kernel.name()));
        let globals = index(program.globals().iter().map(|global| global.name.as_str()));
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
