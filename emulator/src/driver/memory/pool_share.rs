//! Pools that are given to others by a file descriptor, within this process: that is how far the memory reaches. The
//! device's attribute says that there are no such handles, as no other process can import one.
//!
//! A pool is exported before its memory. A descriptor is one end of a socket that nobody writes, known again by its inode. As measured on an H100 with driver
//! 580, an imported pool gives out memory that was imported and answers nothing else; here that is at the same address,
//! and the frees are counted.

use core::ffi::c_void;
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::driver::answer::{INVALID_VALUE, ensure};
use crate::driver::call::{InMut, Out, calls};
use crate::driver::state::memory;

use super::pool::pool_of;

const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// First bytes of what names an allocation.
const MAGIC: u64 = u64::from_le_bytes(*b"cuprum\0p");

#[derive(Default)]
struct Shares {
    /// The pools that may be exported, by their handle, and whether they were.
    pools: BTreeMap<usize, (descriptor::Name, bool)>,
    /// The pools that they were imported from, by the handle of the import.
    imports: BTreeMap<usize, usize>,
    /// How many times an allocation is imported, by its address.
    memory: BTreeMap<u64, usize>,
}

static SHARES: LazyLock<Mutex<Shares>> = LazyLock::new(Mutex::default);

fn shares() -> MutexGuard<'static, Shares> {
    SHARES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What stands for a pool outside of the driver.
#[cfg(unix)]
mod descriptor {
    use std::fs::File;
    use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd};
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::UnixStream;

    /// Both ends of a socket, so that its inode stays.
    pub(super) struct Name(UnixStream, #[expect(dead_code, reason = "keeps the other end open")] UnixStream);

    fn inode(descriptor: OwnedFd) -> Option<(u64, u64)> {
        let of = File::from(descriptor).metadata().ok()?;
        Some((of.dev(), of.ino()))
    }

    impl Name {
        pub(super) fn new() -> Option<Self> {
            UnixStream::pair().ok().map(|(here, there)| Self(here, there))
        }

        /// One more descriptor, which is the client's to close.
        pub(super) fn export(&self) -> Option<i32> {
            self.0.try_clone().ok().map(IntoRawFd::into_raw_fd)
        }

        /// True if a descriptor of the client's is one of these.
        pub(super) fn is(&self, descriptor: i32) -> bool {
            if descriptor < 0 {
                return false;
            }
            // SAFETY: looked at during the call, in which the client keeps it open; a closed one is an error of `dup`.
            let theirs =
                unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned().ok().and_then(inode);
            let ours = self.0.try_clone().ok().map(OwnedFd::from).and_then(inode);
            theirs.is_some() && theirs == ours
        }
    }
}

#[cfg(not(unix))]
mod descriptor {
    /// There are no such descriptors.
    pub(super) enum Name {}

    impl Name {
        pub(super) fn new() -> Option<Self> {
            None
        }

        pub(super) fn export(&self) -> Option<i32> {
            match *self {}
        }

        pub(super) fn is(&self, _descriptor: i32) -> bool {
            match *self {}
        }
    }
}

/// Lets a pool be exported; false where that is not possible.
pub(super) fn allow_export(pool: usize, kinds: CUmemAllocationHandleType) -> bool {
    let name = descriptor::Name::new().filter(|_| kinds == DESCRIPTOR);
    name.map(|name| shares().pools.insert(pool, (name, false))).is_some()
}

/// Forgets a pool that is destroyed.
pub(super) fn forbid_export(pool: usize) {
    shares().pools.remove(&pool);
}

/// Forgets an imported pool; false if that is none. What was imported from it stays.
pub(super) fn forget_import(pool: usize) -> bool {
    shares().imports.remove(&pool).is_some()
}

/// Frees an import of an allocation; false if there is none, so that the allocation itself is meant.
pub(crate) fn free_import(address: u64) -> bool {
    let imported = &mut shares().memory;
    let Some(count) = imported.get_mut(&address) else { return false };
    *count -= 1;
    if *count == 0 {
        imported.remove(&address);
    }
    true
}

calls! {
    fn cuMemPoolExportToShareableHandle(
        _call,
        handle_out: Out<c_void>,
        pool: CUmemoryPool,
        handleType: CUmemAllocationHandleType,
        flags: u64,
    ) {
        handle_out.check()?;
        ensure(handleType == DESCRIPTOR && flags == 0, INVALID_VALUE)?;
        let mut shares = shares();
        let (name, exported) = shares.pools.get_mut(&pool.0.addr()).ok_or(INVALID_VALUE)?;
        *exported = true;
        let descriptor = name.export();
        handle_out.cast::<i32>().set(descriptor.ok_or(INVALID_VALUE)?)
    }

    fn cuMemPoolImportFromShareableHandle(
        _call,
        pool_out: Out<CUmemoryPool>,
        handle: *mut c_void,
        handleType: CUmemAllocationHandleType,
        flags: u64,
    ) {
        pool_out.check()?;
        ensure(handleType == DESCRIPTOR && flags == 0, INVALID_VALUE)?;
        let descriptor = i32::try_from(handle.addr()).map_err(|_| INVALID_VALUE)?;
        let mut shares = shares();
        let found = shares.pools.iter().find(|(_, (name, _))| name.is(descriptor)).map(|(pool, _)| *pool);
        let pool = found.ok_or(INVALID_VALUE)?;
        // An address that nothing else has, and stays.
        let import = Box::leak(Box::new(pool));
        shares.imports.insert(std::ptr::from_ref(import).addr(), pool);
        pool_out.set(CUmemoryPool(std::ptr::from_mut(import).cast()))
    }

    fn cuMemPoolExportPointer(_call, shareData_out: Out<CUmemPoolPtrExportData>, ptr: u64) {
        shareData_out.check()?;
        let region = memory().find(ptr).filter(|region| region.base == ptr).ok_or(INVALID_VALUE)?;
        // Measured: a pool is exported before its memory.
        let is_exported = |pool: &usize| shares().pools.get(pool).is_some_and(|(_, exported)| *exported);
        let pool = pool_of(region.base).filter(is_exported).ok_or(INVALID_VALUE)?;
        let mut data = CUmemPoolPtrExportData::zeroed();
        for (to, word) in data.reserved.chunks_exact_mut(8).zip([MAGIC, pool as u64, region.base]) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        shareData_out.set(data)
    }

    fn cuMemPoolImportPointer(
        _call,
        ptr_out: Out<u64>,
        pool: CUmemoryPool,
        shareData: InMut<CUmemPoolPtrExportData>,
    ) {
        ptr_out.check()?;
        let data = shareData.input().get()?.reserved;
        let mut words = [0; 3];
        for (word, bytes) in words.iter_mut().zip(data.chunks_exact(8)) {
            bytes.iter().rev().for_each(|&byte| *word = *word << 8 | u64::from(byte));
        }
        let [magic, origin, address] = words;
        let mut shares = shares();
        let of = shares.imports.get(&pool.0.addr()).copied();
        let known = magic == MAGIC && of.is_some_and(|of| of as u64 == origin && pool_of(address) == Some(of));
        ensure(known, INVALID_VALUE)?;
        *shares.memory.entry(address).or_default() += 1;
        ptr_out.set(address)
    }
}
