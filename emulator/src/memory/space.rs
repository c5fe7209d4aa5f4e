//! The reserved range of addresses from which device pointers come.
//!
//! On Unix the range is mapped without access; on Linux a host dereference is named besides (`driver::memory::host_access`).
//! Elsewhere, under Miri, or when the process may not reserve that much, addresses are plain numbers high above what a host
//! hands out: everything works, but a host dereference is then caught by luck, not by design.

use super::map::Windows;

/// Granularity of memory that the host may touch.
pub(super) const PAGE: u64 = 4096;

/// Start of the range if the process has room there: the same addresses in every run.
const PREFERRED: u64 = 0x7_0000_0000;

/// Sizes to try, largest first.
const SIZES: [u64; 3] = [1 << 40, 1 << 36, 1 << 33];

/// Size of each of the windows at the end of the range.
pub(super) const WINDOW: u64 = 1 << 30;

/// The range. Unmapped when the last user of it is gone.
#[derive(Debug)]
pub(super) struct Space {
    base: u64,
    bytes: u64,
    reserved: bool,
}

impl Space {
    pub(super) fn reserve() -> Self {
        for bytes in SIZES {
            if let Some(base) = os::reserve(PREFERRED, bytes) {
                return Self { base, bytes, reserved: true };
            }
        }
        // Not canonical as a user address on any 64-bit system we run on, so a host dereference
        // still faults.
        Self { base: 0x00ff_0000_0000_0000, bytes: SIZES[0], reserved: false }
    }

    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// End of the part from which allocations come; the windows follow.
    pub(super) fn allocatable_end(&self) -> u64 {
        self.base + self.bytes - 5 * WINDOW
    }

    pub(super) fn contains(&self, addr: u64) -> bool {
        addr.wrapping_sub(self.base) < self.bytes
    }

    pub(super) fn windows(&self) -> Windows {
        let first = self.allocatable_end() + WINDOW / 2;
        Windows {
            shared: first,
            local: first + WINDOW,
            code: first + 2 * WINDOW,
            param: first + 3 * WINDOW,
            bytes: WINDOW,
        }
    }

    /// Makes the pages of `base..base + bytes` readable and writable. `false` where addresses are
    /// not host addresses.
    pub(super) fn commit(&self, base: u64, bytes: u64) -> bool {
        self.reserved && os::commit(base, bytes.next_multiple_of(PAGE))
    }

    /// Takes access to the pages away and gives their memory back.
    pub(super) fn decommit(&self, base: u64, bytes: u64) {
        os::decommit(base, bytes.next_multiple_of(PAGE));
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        if self.reserved {
            os::unmap(self.base, self.bytes);
        }
    }
}

#[cfg(all(unix, not(miri)))]
mod os {
    use core::ffi::{c_int, c_void};

    use crate::memory::pages::{PROT_READ_WRITE, mmap, munmap};

    const PROT_NONE: c_int = 0;
    const MAP_PRIVATE: c_int = 2;
    const MAP_FIXED: c_int = 0x10;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const MAP_ANONYMOUS_NORESERVE: c_int = 0x20 | 0x4000;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const MAP_ANONYMOUS_NORESERVE: c_int = 0x1000 | 0x40;

    fn pointer(addr: u64) -> Option<*mut c_void> {
        usize::try_from(addr).ok().map(core::ptr::without_provenance_mut)
    }

    fn map(addr: u64, bytes: u64, prot: c_int, flags: c_int) -> Option<u64> {
        let len = usize::try_from(bytes).ok()?;
        let flags = flags | MAP_PRIVATE | MAP_ANONYMOUS_NORESERVE;
        let hint = pointer(addr)?;
        // SAFETY: an anonymous private mapping. Without MAP_FIXED the kernel picks free pages; with
        // it, `commit` and `decommit` pass pages inside of our own reservation only.
        let at = unsafe { mmap(hint, len, prot, flags, -1, 0) };
        (at.addr() != usize::MAX).then_some(at.addr() as u64)
    }

    pub(super) fn reserve(hint: u64, bytes: u64) -> Option<u64> {
        map(hint, bytes, PROT_NONE, 0)
    }

    pub(super) fn commit(base: u64, bytes: u64) -> bool {
        map(base, bytes, PROT_READ_WRITE, MAP_FIXED).is_some()
    }

    pub(super) fn decommit(base: u64, bytes: u64) {
        // A failure leaves the pages accessible, which costs memory and a check, nothing else.
        let _ = map(base, bytes, PROT_NONE, MAP_FIXED);
    }

    pub(super) fn unmap(base: u64, bytes: u64) {
        let (Some(at), Ok(len)) = (pointer(base), usize::try_from(bytes)) else {
            return;
        };
        // SAFETY: exactly the range that `reserve` mapped; its last user is being dropped.
        unsafe { munmap(at, len) };
    }
}

#[cfg(any(not(unix), miri))]
mod os {
    pub(super) fn reserve(_hint: u64, _bytes: u64) -> Option<u64> {
        None
    }

    pub(super) fn commit(_base: u64, _bytes: u64) -> bool {
        false
    }

    pub(super) fn decommit(_base: u64, _bytes: u64) {}

    pub(super) fn unmap(_base: u64, _bytes: u64) {}
}
