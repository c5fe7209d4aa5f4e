//! The region of memory that an instruction found last.

use crate::memory::Region;

/// The region that a memory instruction found last.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Cached {
    pub(in crate::exec) base: u64,
    pub(in crate::exec) len: u64,
    pub(in crate::exec) host: *mut u8,
    pub(in crate::exec) writable: bool,
    pub(in crate::exec) tracked: bool,
    /// Its last address, and the distance from the one before.
    pub(in crate::exec) last: u64,
    pub(in crate::exec) stride: u64,
}

impl Cached {
    pub(in crate::exec) const EMPTY: Cached = Cached {
        base: 0,
        len: 0,
        host: std::ptr::null_mut(),
        writable: false,
        tracked: false,
        last: 0,
        stride: 0,
    };

    pub(in crate::exec) fn of(region: &Region) -> Self {
        Cached {
            base: region.base,
            len: region.len,
            host: region.host,
            writable: region.writable,
            tracked: region.init.is_some(),
            last: 0,
            stride: 0,
        }
    }
}
