//! The reserved address range of device pointers.
//!
//! On Unix and Windows the range is reserved without access; on Linux a host access is also
//! reported (`driver::memory::host_access`). Elsewhere, under Miri, or if the process may not
//! reserve that much, addresses are numbers far above all host addresses: everything works, but a
//! host access is then not reliably detected.

use core::ops::Range;

use super::shared::SharedFile;
use super::windows::Windows;

/// Granularity of memory that the host may access.
pub(super) const PAGE: u64 = 4096;

/// Start of the range if it is free: the same addresses in every run. Its lower half is not a small
/// number, so that an address without its upper half is recognized
/// ([`Map::widened`](super::Map::widened)).
const PREFERRED: u64 = 0x7_5c00_0000;

/// Sizes to try, largest first.
const SIZES: [u64; 3] = [1 << 40, 1 << 36, 1 << 33];

/// Size of each of the windows at the end of the range.
pub(super) const WINDOW: u64 = 1 << 30;

/// The access of the host to pages of page-locked memory. Used by the driver.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostAccess {
    /// Every access faults.
    Nothing,
    /// Writes fault.
    Reads,
    /// No access faults.
    All,
}

/// The range, unmapped with its last user.
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
        // Not a canonical user address on any supported 64-bit system, so a host access faults.
        Self { base: 0x00ff_0000_0000_0000, bytes: SIZES[0], reserved: false }
    }

    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Returns the end of the part for allocations; the windows follow.
    pub(super) fn allocatable_end(&self) -> u64 {
        self.base + self.bytes - 5 * WINDOW
    }

    pub(super) fn contains(&self, addr: u64) -> bool {
        addr.wrapping_sub(self.base) < self.bytes
    }

    pub(super) fn windows(&self) -> Windows {
        let first = self.allocatable_end() + WINDOW / 2;
        Windows {
            range: self.base,
            shared: first,
            local: first + WINDOW,
            code: first + 2 * WINDOW,
            param: first + 3 * WINDOW,
            bytes: WINDOW,
        }
    }

    /// Makes the pages of `base..base + bytes` readable and writable. Returns false if device
    /// addresses are not host addresses.
    pub(super) fn commit(&self, base: u64, bytes: u64) -> bool {
        self.reserved && os::commit(base, bytes.next_multiple_of(PAGE))
    }

    /// Makes the bytes of a file readable, and writable if asked, from `base` on. Returns false if
    /// addresses are not host addresses.
    pub(super) fn show(&self, base: u64, file: &SharedFile, writable: bool) -> bool {
        let end = base.checked_add(file.bytes());
        let inside = self.contains(base) && end.is_some_and(|end| self.contains(end));
        // SAFETY: pages of this range, on which the caller has a region whose bytes are at another
        // address.
        self.reserved && inside && unsafe { file.map_over(base, writable) }
    }

    /// Changes the access of the host to whole pages that it may access. Neither waits nor
    /// allocates. Returns false if the system cannot.
    pub(super) fn protect(&self, pages: &Range<u64>, access: HostAccess) -> bool {
        let inside = self.contains(pages.start) && pages.end <= self.base + self.bytes;
        self.reserved && inside && os::protect(pages, access)
    }

    /// Removes access to the pages, and frees their memory.
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

    use core::ops::Range;

    use super::HostAccess;
    use crate::memory::pages::{PROT_READ, PROT_READ_WRITE, mmap, mprotect, munmap};

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
        // SAFETY: an anonymous private mapping. Without MAP_FIXED the kernel chooses free pages;
        // with it, `commit` and `decommit` only pass pages inside our own reservation.
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
        // A failure leaves the pages accessible, which only wastes memory and misses host accesses.
        let _ = map(base, bytes, PROT_NONE, MAP_FIXED);
    }

    pub(super) fn protect(pages: &Range<u64>, access: HostAccess) -> bool {
        let len = usize::try_from(pages.end.saturating_sub(pages.start)).ok();
        let (Some(at), Some(len)) = (pointer(pages.start), len) else { return false };
        let prot = match access {
            HostAccess::Nothing => PROT_NONE,
            HostAccess::Reads => PROT_READ,
            HostAccess::All => PROT_READ_WRITE,
        };
        // SAFETY: pages inside our own reservation, whose bytes the driver uses at another address.
        unsafe { mprotect(at, len, prot) == 0 }
    }

    pub(super) fn unmap(base: u64, bytes: u64) {
        let (Some(at), Ok(len)) = (pointer(base), usize::try_from(bytes)) else {
            return;
        };
        // SAFETY: exactly the range that `reserve` mapped; its last user is being dropped.
        unsafe { munmap(at, len) };
    }
}

#[cfg(all(windows, not(miri)))]
mod os {
    use core::ffi::c_void;
    use core::ops::Range;
    use core::ptr::{null_mut, without_provenance_mut};

    use super::HostAccess;

    const MEM_COMMIT: u32 = 0x1000;
    const MEM_RESERVE: u32 = 0x2000;
    const MEM_DECOMMIT: u32 = 0x4000;
    const MEM_RELEASE: u32 = 0x8000;
    const PAGE_NOACCESS: u32 = 1;
    const PAGE_READWRITE: u32 = 4;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn VirtualAlloc(address: *mut c_void, bytes: usize, kind: u32, access: u32) -> *mut c_void;
        fn VirtualFree(address: *mut c_void, bytes: usize, kind: u32) -> i32;
    }

    fn alloc(at: *mut c_void, bytes: u64, kind: u32, access: u32) -> Option<u64> {
        let bytes = usize::try_from(bytes).ok()?;
        // SAFETY: a reservation at free addresses, or pages of our own reservation that `commit`
        // passes.
        let at = unsafe { VirtualAlloc(at, bytes, kind, access) };
        (!at.is_null()).then_some(at.addr() as u64)
    }

    fn free(at: u64, bytes: u64, kind: u32) {
        let (Ok(at), Ok(bytes)) = (usize::try_from(at), usize::try_from(bytes)) else { return };
        // SAFETY: unused pages of our own reservation, or all of it after its last user. A failure
        // only wastes memory and misses host accesses.
        unsafe { VirtualFree(without_provenance_mut(at), bytes, kind) };
    }

    pub(super) fn reserve(hint: u64, bytes: u64) -> Option<u64> {
        let hint = without_provenance_mut(usize::try_from(hint).ok()?);
        let reserve = |at| alloc(at, bytes, MEM_RESERVE, PAGE_NOACCESS);
        // Unlike on Unix, the call fails if the hint is not free.
        reserve(hint).or_else(|| reserve(null_mut()))
    }

    pub(super) fn commit(base: u64, bytes: u64) -> bool {
        let Ok(at) = usize::try_from(base) else { return false };
        alloc(without_provenance_mut(at), bytes, MEM_COMMIT, PAGE_READWRITE).is_some()
    }

    pub(super) fn decommit(base: u64, bytes: u64) {
        free(base, bytes, MEM_DECOMMIT);
    }

    pub(super) fn protect(_pages: &Range<u64>, _access: HostAccess) -> bool {
        false
    }

    pub(super) fn unmap(base: u64, _bytes: u64) {
        free(base, 0, MEM_RELEASE);
    }
}

#[cfg(any(not(any(unix, windows)), miri))]
mod os {
    use core::ops::Range;

    use super::HostAccess;

    pub(super) fn reserve(_hint: u64, _bytes: u64) -> Option<u64> {
        None
    }

    pub(super) fn commit(_base: u64, _bytes: u64) -> bool {
        false
    }

    pub(super) fn decommit(_base: u64, _bytes: u64) {}

    pub(super) fn protect(_pages: &Range<u64>, _access: HostAccess) -> bool {
        false
    }

    pub(super) fn unmap(_base: u64, _bytes: u64) {}
}
