//! Memory without addresses.

use std::ptr;

use cuprum_sys::{
    CU_MEM_CREATE_USAGE_TILE_POOL, CUmemAllocationCompType, CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType, CUmemAllocationProp, CUmemAllocationProp_allocFlags, CUmemAllocationType,
    CUmemGenericAllocationHandle, CUmemLocation, CUmemLocationType, CUresult, FnId, Library,
};

use crate::driver::Driver;
use crate::error::Error;
use crate::memory::{MemoryError, MemoryLocation};
use crate::raw::call::driver_call;
use crate::raw::flags::flags;
use crate::raw::held::handle;
use crate::raw::owned::Owned;

flags! {
    /// Uses of physical memory.
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::memory::{MemoryLocation, PhysicalFlags, PhysicalMemory};
    ///
    /// let at = MemoryLocation::Device(driver.device(0)?);
    /// let memory = PhysicalMemory::new(driver, at, 2 << 20, PhysicalFlags::SHAREABLE)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct PhysicalFlags: u32 {
        /// It can be exported to other processes as a file descriptor.
        const SHAREABLE = 1;
        /// The device may compress it, if it can.
        const COMPRESSIBLE = 2;
        /// Other devices on the bus access it directly (GPUDirect RDMA).
        const RDMA = 4;
        /// It is for tiles of sparse arrays.
        const TILE_POOL = 8;
    }
}

/// A granularity, the smallest or a fast one: the driver's number.
pub type Granularity = CUmemAllocationGranularity_flags;

/// A handle of physical memory, or of a multicast object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Physical(pub(super) CUmemGenericAllocationHandle);

// SAFETY: the driver allows any thread to use and to release the handle.
handle!(unsafe Physical: "PhysicalMemory", owned if |raw| raw.0 != 0, |raw| cuMemRelease(raw.0));

/// Physical memory without an address, which is [mapped](super::Reservation::map) for access.
///
/// The driver counts its uses: the memory is freed when all its handles, in all processes, are
/// released and all its mappings are unmapped. Drop releases one handle, on any thread, without a
/// wait.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::memory::{Granularity, MemoryLocation, PhysicalFlags, PhysicalMemory};
///
/// let at = MemoryLocation::Device(driver.device(0)?);
/// let none = PhysicalFlags::empty();
/// let chunk = PhysicalMemory::granularity(driver, at, none, Granularity::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)?;
/// let memory = PhysicalMemory::new(driver, at, 10_000usize.next_multiple_of(chunk), none)?;
/// assert_eq!(memory.properties(driver)?, (Some(at), none));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PhysicalMemory {
    handle: Owned<Physical>,
    bytes: usize,
}

/// Common methods of the types with a handle of physical memory and its number of bytes.
macro_rules! handles {
    ($object:ident, $bytes:literal) => {
        impl $object {
            /// Releases ownership of the handle without releasing the handle.
            #[inline]
            pub fn into_raw(self) -> CUmemGenericAllocationHandle {
                self.handle.into_raw().0
            }

            $crate::raw::owner::as_raw!(CUmemGenericAllocationHandle, |this| this.handle.raw().0);

            #[doc = $bytes]
            pub const fn bytes(&self) -> usize {
                self.bytes
            }

            pub(crate) const fn library(&self) -> Library {
                self.handle.library()
            }

            /// Takes ownership of a handle, such as an imported one. No driver call.
            ///
            /// # Safety
            /// 1. This driver returned `handle`, of an object of this kind with `bytes` bytes; no
            ///    other code releases it.
            #[inline]
            pub unsafe fn from_raw(
                driver: Driver,
                handle: CUmemGenericAllocationHandle,
                bytes: usize,
            ) -> Self {
                Self { handle: Owned::new(Physical(handle), driver.library()), bytes }
            }

            $crate::raw::owner::close!("Releases the handle", "cuMemRelease", "10.2", |this| this.handle.close());
        }

        $crate::raw::debug::debug!($object: |this| "{:#x}, {} bytes", this.as_raw(), this.bytes);
    };
}

pub(super) use handles;

handles! { PhysicalMemory, "Size in bytes." }

impl PhysicalMemory {
    /// Returns the granularity of the size and the addresses of such memory, in bytes.
    ///
    /// # Errors
    /// Same as [`new`](PhysicalMemory::new).
    ///
    /// Driver: `cuMemGetAllocationGranularity`, CUDA 10.2+.
    #[doc(alias = "cuMemGetAllocationGranularity")]
    #[inline]
    pub fn granularity(
        driver: Driver,
        at: MemoryLocation,
        flags: PhysicalFlags,
        granularity: Granularity,
    ) -> Result<usize, Error> {
        ask_granularity(driver.library(), &described(driver, at, flags)?, granularity)
    }

    /// Creates uninitialized memory of a multiple of the
    /// [granularity](PhysicalMemory::granularity).
    ///
    /// # Errors
    /// [`MemoryError::Granularity`]; `CUDA_ERROR_OUT_OF_MEMORY`; `CUDA_ERROR_INVALID_DEVICE`;
    /// `CUDA_ERROR_NOT_SUPPORTED` for flags that the device or the system does not support;
    /// [`Error::UNRESOLVED`] before CUDA 10.2.
    ///
    /// Driver: `cuMemCreate`, CUDA 10.2+; if it refuses a size, `cuMemGetAllocationGranularity`,
    /// CUDA 10.2+.
    #[doc(alias = "cuMemCreate")]
    #[inline]
    pub fn new(
        driver: Driver,
        at: MemoryLocation,
        bytes: usize,
        flags: PhysicalFlags,
    ) -> Result<Self, MemoryError> {
        let (library, described) = (driver.library(), described(driver, at, flags)?);
        let mut raw = 0;
        let (to, described) = (&raw mut raw, &raw const described);
        // SAFETY: the description and the out-parameter outlive the call.
        unsafe { driver_call!(library, cuMemCreate(to, bytes, described, 0)) }.map_err(|error| {
            // SAFETY: the description still exists.
            refused(library, unsafe { &*described }, bytes, error)
        })?;
        Ok(Self::owning(library, raw, bytes))
    }

    pub(super) const fn owning(library: Library, raw: CUmemGenericAllocationHandle, bytes: usize) -> Self {
        Self { handle: Owned::new(Physical(raw), library), bytes }
    }

    /// Returns the location and the uses of the memory from the driver, also of imported memory.
    ///
    /// Driver: `cuMemGetAllocationPropertiesFromHandle`, CUDA 10.2+.
    #[doc(alias = "cuMemGetAllocationPropertiesFromHandle")]
    #[inline]
    pub fn properties(&self, driver: Driver) -> Result<(Option<MemoryLocation>, PhysicalFlags), Error> {
        same_driver(self.library(), driver, FnId::cuMemGetAllocationPropertiesFromHandle)?;
        let none = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID, id: 0 };
        let mut told = properties(none, PhysicalFlags::empty());
        let (to, raw) = (&raw mut told, self.as_raw());
        // SAFETY: the handle is live, and the out-parameter outlives the call.
        unsafe { driver_call!(self.library(), cuMemGetAllocationPropertiesFromHandle(to, raw)) }?;
        let mut flags = PhysicalFlags::empty();
        let shareable = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        flags.set(PhysicalFlags::SHAREABLE, told.requestedHandleTypes.0 & shareable.0 != 0);
        flags.set(PhysicalFlags::COMPRESSIBLE, told.allocFlags.compressionType != 0);
        flags.set(PhysicalFlags::RDMA, told.allocFlags.gpuDirectRDMACapable != 0);
        let tiles = told.allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL != 0;
        flags.set(PhysicalFlags::TILE_POOL, tiles);
        Ok((MemoryLocation::from_raw(driver, told.location), flags))
    }

    /// Exports the memory as a file descriptor, to be sent to another process (over a Unix socket)
    /// and [imported](PhysicalMemory::import) there. The open descriptor keeps the memory.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for memory that is not [`SHAREABLE`](PhysicalFlags::SHAREABLE);
    /// `CUDA_ERROR_NOT_SUPPORTED` if the system has no such descriptors.
    ///
    /// Driver: `cuMemExportToShareableHandle`, CUDA 10.2+.
    #[cfg(unix)]
    #[doc(alias = "cuMemExportToShareableHandle")]
    #[inline]
    pub fn export(&self) -> Result<std::os::fd::OwnedFd, Error> {
        let (mut descriptor, raw) = (-1, self.as_raw());
        let to = (&raw mut descriptor).cast();
        let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        // SAFETY: the handle is live; the out-parameter is an `int` for this kind, and outlives the
        // call.
        unsafe { driver_call!(self.library(), cuMemExportToShareableHandle(to, raw, kind, 0)) }?;
        crate::memory::owned_descriptor(descriptor, FnId::cuMemExportToShareableHandle)
    }

    /// Imports memory that a process has exported. The descriptor can be closed afterwards.
    ///
    /// `bytes` is the size of the memory, which must be sent with the descriptor: memory with a
    /// wrong size cannot be mapped.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` and others for a descriptor that is not of such memory;
    /// `CUDA_ERROR_NOT_SUPPORTED` if the system has no such descriptors.
    ///
    /// Driver: `cuMemImportFromShareableHandle`, CUDA 10.2+.
    #[cfg(unix)]
    #[doc(alias = "cuMemImportFromShareableHandle")]
    #[inline]
    pub fn import(
        driver: Driver,
        descriptor: std::os::fd::BorrowedFd<'_>,
        bytes: usize,
    ) -> Result<Self, Error> {
        use std::os::fd::AsRawFd;

        let (mut raw, library) = (0, driver.library());
        let number = ptr::without_provenance_mut(descriptor.as_raw_fd() as usize);
        let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        let to = &raw mut raw;
        // SAFETY: for this kind, the second argument is the open descriptor itself; the
        // out-parameter outlives the call.
        unsafe { driver_call!(library, cuMemImportFromShareableHandle(to, number, kind)) }?;
        Ok(Self::owning(library, raw, bytes))
    }
}

/// Fails for a handle of another driver, for which it is a wild number.
pub(super) fn same_driver(library: Library, other: Driver, call: FnId) -> Result<(), Error> {
    if library.is_same_driver(other.library()) { Ok(()) } else { Err(Error::wrong_context(call)) }
}

/// The driver's description of memory at a location.
fn described(driver: Driver, at: MemoryLocation, flags: PhysicalFlags) -> Result<CUmemAllocationProp, Error> {
    at.check_driver(driver, FnId::cuMemCreate)?;
    Ok(properties(at.as_raw(), flags))
}

fn properties(location: CUmemLocation, flags: PhysicalFlags) -> CUmemAllocationProp {
    let has = |flag| u8::from(flags.contains(flag));
    let none = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
    let shareable = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    let compressed = CUmemAllocationCompType::CU_MEM_ALLOCATION_COMP_GENERIC.0 as u8;
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: if flags.contains(PhysicalFlags::SHAREABLE) { shareable } else { none },
        location,
        win32HandleMetaData: ptr::null_mut(),
        allocFlags: CUmemAllocationProp_allocFlags {
            compressionType: has(PhysicalFlags::COMPRESSIBLE) * compressed,
            gpuDirectRDMACapable: has(PhysicalFlags::RDMA),
            usage: u16::from(has(PhysicalFlags::TILE_POOL)) * CU_MEM_CREATE_USAGE_TILE_POOL,
            reserved: [0; 4],
        },
    }
}

fn ask_granularity(
    library: Library,
    described: &CUmemAllocationProp,
    granularity: Granularity,
) -> Result<usize, Error> {
    let (mut bytes, described) = (0, ptr::from_ref(described));
    // SAFETY: the description and the out-parameter outlive the call.
    unsafe { driver_call!(library, cuMemGetAllocationGranularity(&raw mut bytes, described, granularity)) }?;
    Ok(bytes)
}

/// Returns a descriptive error if the size is not a multiple of the granularity.
#[cold]
fn refused(library: Library, described: &CUmemAllocationProp, bytes: usize, error: Error) -> MemoryError {
    if error.code() == CUresult::CUDA_ERROR_INVALID_VALUE {
        match ask_granularity(library, described, Granularity::CU_MEM_ALLOC_GRANULARITY_MINIMUM) {
            Ok(granularity) if bytes == 0 || granularity != 0 && bytes % granularity != 0 => {
                return MemoryError::Granularity { bytes, granularity };
            }
            _ => {}
        }
    }
    error.into()
}
