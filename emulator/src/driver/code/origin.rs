//! State that the modules of a library share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ordered::Ordered;
use crate::program::{Kernel, Program};

use crate::driver::answer::Answer;
use crate::driver::state::memory;

use super::attributes::Attributes;
use super::jit::RegisterLimit;
use super::placement::{initialize, place};

#[derive(Debug)]
pub(super) struct Origin {
    pub(super) library: usize,
    /// Attributes of each kernel, which its functions inherit.
    pub(super) attributes: Vec<Arc<Attributes>>,
    /// Addresses of managed variables, which belong to no context. Placed on first use.
    pub(super) managed: Mutex<Ordered<u64>>,
}

impl Origin {
    pub(super) fn attributes(&self, index: usize, kernel: &Kernel) -> Attributes {
        match self.attributes.get(index) {
            Some(kernel) => Attributes::of_function(Arc::clone(kernel)),
            None => Attributes::new(kernel, RegisterLimit::default()),
        }
    }

    /// Returns the addresses of the managed variables, by index.
    pub(super) fn managed(&self, program: &Program) -> Answer<Ordered<u64>> {
        let mut known = self.managed.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            let globals = program.globals();
            // No client's context has the number 0, and it never ends.
            let regions = place((0, 0), globals, |_, global| global.managed)?;
            let addresses: Vec<u64> =
                regions.iter().map(|region| region.as_ref().map_or(0, |region| region.base)).collect();
            for (index, (global, region)) in globals.iter().zip(&regions).enumerate() {
                if let Some(region) = region {
                    initialize(global, region, &addresses);
                    known.insert(index as u64, region.base);
                }
            }
        }
        Ok(known.clone())
    }

    pub(super) fn free(&self) {
        let known = std::mem::take(&mut *self.managed.lock().unwrap_or_else(PoisonError::into_inner));
        for (_, &address) in known.iter() {
            // A client may have freed it already.
            let _ = memory().free(address);
        }
    }
}
