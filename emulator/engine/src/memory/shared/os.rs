//! The operating system's functions for shared memory.

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use core::ffi::{c_int, c_long};
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
    use std::os::unix::fs::{FileExt, MetadataExt};

    use crate::memory::pages::{PROT_READ, PROT_READ_WRITE, mmap, munmap};

    unsafe extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
        fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
        fn fallocate64(fd: c_int, mode: c_int, offset: i64, len: i64) -> c_int;
        fn getrlimit(resource: c_int, limit: *mut Limit) -> c_int;
    }

    #[repr(C)]
    struct Limit {
        soft: u64,
        hard: u64,
    }

    #[cfg(target_arch = "x86_64")]
    const MEMFD_CREATE: c_long = 319;
    #[cfg(not(target_arch = "x86_64"))]
    const MEMFD_CREATE: c_long = 279;
    const CLOSE_ON_EXEC: core::ffi::c_uint = 1;
    const F_DUPFD_CLOEXEC: c_int = 1030;
    const MAP_SHARED_NORESERVE: c_int = 1 | 0x4000;
    const MAP_FIXED: c_int = 0x10;
    const PUNCH_HOLE_KEEP_SIZE: c_int = 2 | 1;
    const LARGEST_FILE: c_int = 1;

    /// A descriptor of this process, closed on drop and by `exec`.
    #[derive(Debug)]
    pub(in super::super) struct Descriptor(File);

    impl Descriptor {
        pub(in super::super) fn memory(bytes: u64) -> Option<Self> {
            // A file beyond the limit would end the process.
            let mut limit = Limit { soft: 0, hard: 0 };
            // SAFETY: a valid output, in the layout of 64-bit systems.
            let asked = unsafe { getrlimit(LARGEST_FILE, &mut limit) };
            if asked == 0 && limit.soft < bytes {
                return None;
            }
            // SAFETY: a NUL-terminated name and known flags; an old system returns an error.
            let fd = unsafe { syscall(MEMFD_CREATE, c"cuprum".as_ptr(), CLOSE_ON_EXEC) };
            let fd = c_int::try_from(fd).ok().filter(|fd| *fd >= 0)?;
            // SAFETY: a new descriptor without another owner.
            let file = unsafe { File::from_raw_fd(fd) };
            file.set_len(bytes).ok()?;
            Some(Self(file))
        }

        /// Duplicates a descriptor of a client, which may be invalid.
        pub(in super::super) fn duplicate(fd: i32) -> Option<Self> {
            // SAFETY: only a number; an invalid descriptor returns an error.
            let own = unsafe { fcntl(fd, F_DUPFD_CLOEXEC, 0 as c_int) };
            // SAFETY: a new descriptor without another owner.
            (own >= 0).then(|| Self(unsafe { File::from_raw_fd(own) }))
        }

        /// Opens the file of a descriptor in another process of the same user.
        pub(in super::super) fn of_process(process: u32, fd: i32) -> Option<Self> {
            let path = format!("/proc/{process}/fd/{fd}");
            // The number may by now refer to a pipe or a terminal, whose opening could block.
            let is_file = std::fs::metadata(&path).ok()?.is_file();
            let file = is_file.then(|| File::options().read(true).write(true).open(path));
            Some(Self(file?.ok()?))
        }

        pub(in super::super) fn close(fd: i32) {
            // SAFETY: the client passed the open descriptor to the driver and no longer closes it.
            drop(unsafe { File::from_raw_fd(fd) });
        }

        pub(in super::super) fn give(&self) -> Option<i32> {
            Some(self.0.try_clone().ok()?.into_raw_fd())
        }

        pub(in super::super) fn number(&self) -> i32 {
            self.0.as_raw_fd()
        }

        pub(in super::super) fn identity(&self) -> Option<u64> {
            self.0.metadata().ok().map(|metadata| metadata.ino())
        }

        pub(in super::super) fn bytes(&self) -> Option<u64> {
            self.0.metadata().ok().map(|metadata| metadata.len())
        }

        pub(in super::super) fn write_start(&self, bytes: &[u8]) -> Option<()> {
            self.0.write_all_at(bytes, 0).ok()
        }

        pub(in super::super) fn read_start(&self, bytes: &mut [u8]) -> Option<()> {
            // Reading from a terminal would block.
            self.0.metadata().ok().filter(std::fs::Metadata::is_file)?;
            self.0.read_exact_at(bytes, 0).ok()
        }

        pub(in super::super) fn map(&self, offset: u64, len: usize) -> Option<*mut u8> {
            let offset = i64::try_from(offset).ok()?;
            let (prot, flags) = (PROT_READ_WRITE, MAP_SHARED_NORESERVE);
            // SAFETY: a new mapping at an address that the system chooses.
            let at = unsafe { mmap(core::ptr::null_mut(), len, prot, flags, self.number(), offset) };
            (at.addr() != usize::MAX).then_some(at.cast())
        }

        /// # Safety
        ///
        /// The pages from `at` on are the caller's, and nothing refers to their bytes.
        pub(in super::super) unsafe fn map_over(
            &self,
            offset: u64,
            len: usize,
            at: usize,
            writable: bool,
        ) -> bool {
            let Ok(offset) = i64::try_from(offset) else { return false };
            let prot = if writable { PROT_READ_WRITE } else { PROT_READ };
            let (place, flags) = (core::ptr::without_provenance_mut(at), MAP_SHARED_NORESERVE | MAP_FIXED);
            // SAFETY: replaces pages that are the caller's, as it promises.
            let mapped = unsafe { mmap(place, len, prot, flags, self.number(), offset) };
            mapped.addr() == at
        }

        pub(in super::super) fn punch(&self, offset: u64, bytes: u64) -> bool {
            let (Ok(offset), Ok(bytes)) = (i64::try_from(offset), i64::try_from(bytes)) else { return false };
            // SAFETY: an open descriptor; the released range is no longer in use.
            unsafe { fallocate64(self.number(), PUNCH_HOLE_KEEP_SIZE, offset, bytes) == 0 }
        }
    }

    pub(in super::super) fn unmap(start: *mut u8, len: usize) {
        // SAFETY: exactly the range that `Descriptor::map` mapped; its last user is being dropped.
        unsafe { munmap(start.cast(), len) };
    }

    pub(in super::super) fn is_alive(process: u32) -> bool {
        std::path::Path::new(&format!("/proc/{process}")).exists()
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
pub(super) use linux::{Descriptor, is_alive, unmap};

#[cfg(not(all(target_os = "linux", not(miri))))]
mod elsewhere {
    #[derive(Debug)]
    pub(in super::super) enum Descriptor {}

    impl Descriptor {
        pub(in super::super) fn memory(_bytes: u64) -> Option<Self> {
            None
        }

        pub(in super::super) fn duplicate(_fd: i32) -> Option<Self> {
            None
        }

        pub(in super::super) fn of_process(_process: u32, _fd: i32) -> Option<Self> {
            None
        }

        pub(in super::super) fn close(_fd: i32) {}

        pub(in super::super) fn give(&self) -> Option<i32> {
            match *self {}
        }

        pub(in super::super) fn number(&self) -> i32 {
            match *self {}
        }

        pub(in super::super) fn identity(&self) -> Option<u64> {
            match *self {}
        }

        pub(in super::super) fn bytes(&self) -> Option<u64> {
            match *self {}
        }

        pub(in super::super) fn write_start(&self, _bytes: &[u8]) -> Option<()> {
            match *self {}
        }

        pub(in super::super) fn read_start(&self, _bytes: &mut [u8]) -> Option<()> {
            match *self {}
        }

        pub(in super::super) fn map(&self, _offset: u64, _len: usize) -> Option<*mut u8> {
            match *self {}
        }

        pub(in super::super) unsafe fn map_over(
            &self,
            _offset: u64,
            _len: usize,
            _at: usize,
            _writable: bool,
        ) -> bool {
            match *self {}
        }

        pub(in super::super) fn punch(&self, _offset: u64, _bytes: u64) -> bool {
            match *self {}
        }
    }

    pub(in super::super) fn unmap(_start: *mut u8, _len: usize) {}

    pub(in super::super) fn is_alive(_process: u32) -> bool {
        true
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) use elsewhere::{Descriptor, is_alive, unmap};
