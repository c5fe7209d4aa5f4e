//! NaNs that a kernel has computed.

use std::collections::HashMap;

use crate::semantics::Register;
use crate::semantics::format::FloatFormat;

#[derive(Clone, Debug)]
pub(in crate::exec) struct Birth {
    pub(in crate::exec) pc: u32,
    pub(in crate::exec) lane: usize,
    /// Its operands, as far as they are known.
    pub(in crate::exec) operands: Vec<f64>,
}

impl Birth {
    pub(in crate::exec) fn note(&self) -> String {
        match &*self.operands {
            [] => "made of matrices of numbers".to_owned(),
            [one] => format!("made of {one:?}"),
            [before @ .., last] => {
                let before: Vec<String> = before.iter().map(|number| format!("{number:?}")).collect();
                format!("made of {} and {last:?}", before.join(", "))
            }
        }
    }
}

/// A NaN in a register: its format, and its origin.
pub(in crate::exec) type Made = (FloatFormat, Birth);

/// The registers of a warp that contain NaNs computed by the kernel, by lane.
#[derive(Debug, Default)]
pub(in crate::exec) struct Nans(HashMap<(Register, usize), Made>);

impl Nans {
    pub(in crate::exec) fn clear(&mut self) {
        self.0.clear();
    }

    pub(in crate::exec) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::exec) fn get(&self, register: Register, lane: usize) -> Option<&Made> {
        self.0.get(&(register, lane))
    }

    pub(in crate::exec) fn set(&mut self, register: Register, lane: usize, made: Option<Made>) {
        let place = (register, lane);
        match made {
            Some(made) => drop(self.0.insert(place, made)),
            None if self.0.is_empty() => {}
            None => drop(self.0.remove(&place)),
        }
    }

    pub(in crate::exec) fn copy(&mut self, from: &[Register], to: &[Register], lane: usize) {
        if self.is_empty() {
            return;
        }
        let values: Vec<_> = from.iter().map(|register| self.get(*register, lane).cloned()).collect();
        for (register, made) in to.iter().zip(values) {
            self.set(*register, lane, made);
        }
    }
}
