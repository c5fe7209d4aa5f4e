//! The pools that allocations without a pool come from.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::pool::{POOLS, Place, Pool};

/// The pools that allocations without a pool come from, in each place.
#[derive(Debug)]
pub(crate) struct CurrentPools(Mutex<BTreeMap<Place, PlacePools>>);

pub(crate) static CURRENT_POOLS: CurrentPools = CurrentPools(Mutex::new(BTreeMap::new()));

/// The pools of one place.
#[derive(Debug, Clone, Copy)]
struct PlacePools {
    default: usize,
    current: usize,
}

impl CurrentPools {
    /// The pools of a place, made when first asked for.
    fn with<R>(&self, place: Place, ask: impl FnOnce(&mut PlacePools) -> R) -> R {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ask(places.entry(place).or_insert_with(|| {
            let default = POOLS.insert(Pool::new(place, true, 0));
            PlacePools { default, current: default }
        }))
    }

    pub(super) fn default(&self, place: Place) -> usize {
        self.with(place, |pools| pools.default)
    }

    pub(crate) fn current(&self, place: Place) -> usize {
        self.with(place, |pools| pools.current)
    }

    pub(super) fn set_current(&self, place: Place, pool: usize) {
        self.with(place, |pools| pools.current = pool);
    }

    /// Goes back to the default pool if this one is destroyed.
    pub(super) fn forget(&self, place: Place, pool: usize) {
        self.with(place, |pools| {
            if pools.current == pool {
                pools.current = pools.default;
            }
        });
    }
}
