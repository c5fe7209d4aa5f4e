//! The pools that serve allocations without an explicit pool.

use std::sync::{Mutex, PoisonError};

use super::pool::{POOLS, Pool};
use super::pool_place::PoolPlace;

/// The pools that serve allocations without an explicit pool, per location.
#[derive(Debug)]
pub(crate) struct CurrentPools(Mutex<Vec<PlacePools>>);

pub(crate) static CURRENT_POOLS: CurrentPools = CurrentPools(Mutex::new(Vec::new()));

#[derive(Debug, Clone, Copy)]
struct PlacePools {
    place: PoolPlace,
    default: usize,
    current: usize,
}

impl CurrentPools {
    /// Returns the pools of a location after a change. Creates them on first use.
    fn of(&self, place: PoolPlace, change: &dyn Fn(&mut PlacePools)) -> PlacePools {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pools) = places.iter_mut().find(|pools| pools.place == place) {
            change(pools);
            return *pools;
        }
        let default = POOLS.insert(Pool::new(place, true, 0));
        let mut pools = PlacePools { place, default, current: default };
        change(&mut pools);
        places.push(pools);
        pools
    }

    pub(super) fn default(&self, place: PoolPlace) -> usize {
        self.of(place, &|_| ()).default
    }

    pub(crate) fn current(&self, place: PoolPlace) -> usize {
        self.of(place, &|_| ()).current
    }

    pub(super) fn set_current(&self, place: PoolPlace, pool: usize) {
        self.of(place, &|pools| pools.current = pool);
    }

    /// Selects the default pool again if this one is destroyed.
    pub(super) fn forget(&self, place: PoolPlace, pool: usize) {
        self.of(place, &|pools| {
            if pools.current == pool {
                pools.current = pools.default;
            }
        });
    }
}
