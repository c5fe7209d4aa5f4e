//! The pools that allocations without a pool come from.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::pool::{POOLS, Pool, PoolPlace};

/// The pools that allocations without a pool come from, in each place.
#[derive(Debug)]
pub(crate) struct CurrentPools(Mutex<BTreeMap<PoolPlace, PlacePools>>);

pub(crate) static CURRENT_POOLS: CurrentPools = CurrentPools(Mutex::new(BTreeMap::new()));

/// The pools of one place.
#[derive(Debug, Clone, Copy)]
struct PlacePools {
    default: usize,
    current: usize,
}

impl CurrentPools {
    /// The pools of a place, made when first asked for.
    fn with<R>(&self, place: PoolPlace, ask: impl FnOnce(&mut PlacePools) -> R) -> R {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ask(places.entry(place).or_insert_with(|| {
            let default = POOLS.insert(Pool::new(place, true, 0));
            PlacePools { default, current: default }
        }))
    }

    pub(super) fn default(&self, place: PoolPlace) -> usize {
        self.with(place, |pools| pools.default)
    }

    pub(crate) fn current(&self, place: PoolPlace) -> usize {
        self.with(place, |pools| pools.current)
    }

    pub(super) fn set_current(&self, place: PoolPlace, pool: usize) {
        self.with(place, |pools| pools.current = pool);
    }

    /// Goes back to the default pool if this one is destroyed.
    pub(super) fn forget(&self, place: PoolPlace, pool: usize) {
        self.with(place, |pools| {
            if pools.current == pool {
                pools.current = pools.default;
            }
        });
    }
}
