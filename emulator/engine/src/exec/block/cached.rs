//! A cache of the region that a memory instruction found last.

use super::launch::Launch;
use crate::exec::touched::Marks;
use crate::memory::{Region, ValidBits};

#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Cached {
    pub(in crate::exec) base: u64,
    pub(in crate::exec) len: u64,
    pub(in crate::exec) host: *mut u8,
    pub(in crate::exec) writable: bool,
    /// The record of written bytes; null if none is kept, or all bytes have been written.
    pub(in crate::exec) init: *const ValidBits,
    /// The record of accessed bytes; null if none is kept.
    pub(in crate::exec) marks: *const Marks,
    /// Its last address, and the distance from the previous one.
    pub(in crate::exec) last: u64,
    pub(in crate::exec) stride: u64,
}

impl Cached {
    pub(in crate::exec) const EMPTY: Cached = Cached {
        base: 0,
        len: 0,
        host: std::ptr::null_mut(),
        writable: false,
        init: std::ptr::null(),
        marks: std::ptr::null(),
        last: 0,
        stride: 0,
    };

    /// `region` is one of the launch's map, which keeps its record of written bytes alive.
    pub(in crate::exec) fn of(region: &Region) -> Self {
        let init = region.init.as_deref().filter(|init| !init.is_complete());
        let init = init.map_or(std::ptr::null(), std::ptr::from_ref);
        Cached {
            base: region.base,
            len: region.len,
            host: region.host,
            writable: region.writable,
            init,
            marks: std::ptr::null(),
            last: 0,
            stride: 0,
        }
    }

    /// True if all bytes of an access are within.
    #[inline]
    pub(in crate::exec) fn contains(&self, address: u64, bytes: u32) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset < self.len && u64::from(bytes) <= self.len - offset
    }

    /// Returns the record of accessed bytes.
    #[inline(always)]
    pub(in crate::exec) fn marks<'l>(&self, _launch: &'l Launch<'_>) -> Option<&'l Marks> {
        // SAFETY: null, or from the launch's `Touched`, which lives as long as the launch.
        unsafe { self.marks.as_ref() }
    }

    /// Returns the record of written bytes, if some are not known to be written.
    #[inline(always)]
    pub(in crate::exec) fn init<'l>(&self, _launch: &'l Launch<'_>) -> Option<&'l ValidBits> {
        // SAFETY: null, or from a region of the launch's map, which lives as long as the launch.
        unsafe { self.init.as_ref() }
    }
}

/// The region that an access of machine code found last, for one comparison of bounds and
/// alignment.
#[cfg(feature = "compile")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(in crate::exec) struct Reach {
    pub(in crate::exec) base: u64,
    /// Number of accesses that fit.
    pub(in crate::exec) limit: u64,
    /// Number of places where the first of four accesses in a row fits.
    pub(in crate::exec) row_limit: u64,
    /// Distance from device to host addresses.
    pub(in crate::exec) delta: u64,
}

#[cfg(feature = "compile")]
impl Reach {
    const EMPTY: Reach = Reach { base: 0, limit: 0, row_limit: 0, delta: 0 };

    /// Returns the number of places where the first of four accesses in a row fits.
    pub(in crate::exec) fn row_limit(limit: u64) -> u64 {
        limit.saturating_sub(3)
    }

    /// True if it contains an access of this size, which is a power of two, as machine code tests
    /// it.
    #[inline]
    pub(in crate::exec) fn contains(&self, address: u64, bytes: u32) -> bool {
        let number = address.wrapping_sub(self.base).rotate_right(bytes.trailing_zeros());
        number < self.limit
    }
}

/// Number of sizes of accesses: 1 to 64 bytes.
#[cfg(feature = "compile")]
const SIZES: usize = 7;

/// Numbers of accesses that fit in shared and in local memory, by the logarithm of their size.
#[cfg(feature = "compile")]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(in crate::exec) struct Limits {
    pub(in crate::exec) shared: [u32; SIZES],
    pub(in crate::exec) local: [u32; SIZES],
    /// Numbers of places in shared memory where the first of four accesses in a row fits.
    pub(in crate::exec) shared_rows: [u32; SIZES],
    /// The sizes of shared and of local memory.
    of: [u32; 2],
}

#[cfg(feature = "compile")]
impl Limits {
    #[cold]
    fn new(shared: u32, local: u32) -> Limits {
        let fit = |bytes: u32| std::array::from_fn(|size| bytes >> size);
        Limits {
            shared: fit(shared),
            local: fit(local),
            shared_rows: fit(shared).map(|limit| Reach::row_limit(limit.into()) as u32),
            of: [shared, local],
        }
    }
}

/// Number of bytes of the memory that stands in for accesses of quads.
#[cfg(feature = "compile")]
pub(in crate::exec) const SPARE: usize = 1 << 14;

/// The state of machine code. Reused after the launch.
#[cfg(feature = "compile")]
#[derive(Debug, Default)]
pub(in crate::exec) struct MachineState {
    /// One for each memory instruction, and one to spare.
    pub(in crate::exec) caches: Vec<Reach>,
    /// The regions that each found before, the last one first; empty before the first search.
    pub(in crate::exec) before: Vec<[Reach; 3]>,
    /// Lanes at each stop.
    pub(in crate::exec) stops: Vec<u32>,
    /// Bounds of the regions that are known before the launch.
    pub(in crate::exec) bounds: Vec<u64>,
    /// Memory that stands in for accesses of quads.
    pub(in crate::exec) spare: Vec<u64>,
    limits: Limits,
    /// Memory for the records of the calls of a lane.
    pub(in crate::exec) records: Vec<u64>,
    /// Lanes that have stopped in functions, and their records.
    pub(in crate::exec) in_calls: Vec<InCall>,
    pub(in crate::exec) kept: Vec<u64>,
    pub(in crate::exec) partings: Partings,
}

/// Partings of the lanes of quads.
#[cfg(feature = "compile")]
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::exec) struct Partings {
    pub(in crate::exec) count: u64,
    /// Instructions in loops of lanes that ran one by one.
    pub(in crate::exec) single: u64,
    /// Instructions that all lanes have run meanwhile.
    pub(in crate::exec) instructions: u64,
}

/// A lane that has stopped in a function which machine code has called.
#[cfg(feature = "compile")]
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct InCall {
    pub(in crate::exec) lane: u32,
    /// Number of the stop.
    pub(in crate::exec) stop: u32,
    pub(in crate::exec) local_base: u32,
    /// Positions of its records, and of its registers after them.
    pub(in crate::exec) first: usize,
    pub(in crate::exec) registers: usize,
}

#[cfg(feature = "compile")]
impl MachineState {
    /// Makes the region that an instruction found earlier its last again, if it contains an access,
    /// and returns the host address.
    #[inline]
    pub(in crate::exec) fn found_before(&mut self, cache: usize, address: u64, bytes: u32) -> Option<u64> {
        let mut before = self.before.get_mut(cache)?.iter_mut();
        let before = before.find(|reach| reach.contains(address, bytes))?;
        std::mem::swap(before, &mut self.caches[cache]);
        Some(address.wrapping_add(self.caches[cache].delta))
    }

    /// Sets the region that an instruction found last.
    pub(in crate::exec) fn remember(&mut self, cache: usize, found: Reach) {
        self.before.resize(self.caches.len(), [Reach::EMPTY; 3]);
        let last = std::mem::replace(&mut self.caches[cache], found);
        let [first, second, _] = self.before[cache];
        self.before[cache] = [last, first, second];
    }

    /// Returns the numbers of accesses that fit in shared and in local memory of these sizes.
    #[inline]
    pub(in crate::exec) fn limits(&mut self, shared: u32, local: u32) -> Limits {
        if self.limits.of != [shared, local] {
            self.limits = Limits::new(shared, local);
        }
        self.limits
    }

    pub(in crate::exec) fn reset(&mut self, instructions: u32, stops: usize) {
        self.caches.clear();
        self.caches.resize(instructions as usize + 1, Reach::EMPTY);
        self.before.clear();
        self.stops.clear();
        self.stops.resize(stops, 0);
        // The last lane has up to 64 bytes.
        self.spare.resize((SPARE + 64) / size_of::<u64>(), 0);
        self.in_calls.clear();
        self.kept.clear();
    }
}

#[cfg(all(test, feature = "compile"))]
mod tests {
    use super::{MachineState, Reach};

    /// A region of 16 words at a multiple of 4096.
    fn region(number: u64) -> Reach {
        Reach { base: number << 12, limit: 16, row_limit: 13, delta: number << 32 }
    }

    #[test]
    fn an_access_knows_four_regions_and_forgets_the_one_found_longest_ago() {
        let mut state = MachineState::default();
        state.reset(2, 0);
        assert_eq!(state.found_before(0, 1 << 12, 4), None);
        (1..=4).for_each(|number| state.remember(0, region(number)));
        for number in [1, 2, 3, 1, 2] {
            let address = (number << 12) + 60;
            assert_eq!(state.found_before(0, address, 4), Some(address + (number << 32)));
            assert_eq!(state.caches[0].base, number << 12);
        }
        // Beyond its end, misaligned, and by another access.
        assert_eq!(state.found_before(0, (1 << 12) + 64, 4), None);
        assert_eq!(state.found_before(0, (1 << 12) + 2, 4), None);
        assert_eq!(state.found_before(1, 1 << 12, 4), None);
        let known = |state: &MachineState| {
            let mut bases: Vec<u64> = state.before[0].iter().map(|reach| reach.base >> 12).collect();
            bases.push(state.caches[0].base >> 12);
            bases.sort_unstable();
            bases
        };
        assert_eq!(known(&state), [1, 2, 3, 4]);
        state.remember(0, region(5));
        assert_eq!(known(&state), [1, 2, 3, 5]);
    }
}
