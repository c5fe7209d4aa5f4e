//! Drivers that are loaded and initialized.

use cuprum_sys::{FnId, Library, Version};
use once_cell::sync::OnceCell;

use super::error::DriverError;
#[cfg(doc)]
use crate::device::Device;
use crate::error::Error;

/// A driver that has been loaded and initialized.
///
/// A `Library` is a loaded driver with a version and functions. A `Driver` is a library whose
/// `cuInit` has succeeded. It is the only way to a [`Device`] or a context, so nothing is called
/// before initialization. It is `Copy`; the driver stays loaded until the process ends.
///
/// Two values are equal if they are [the same driver](Library::is_same_driver) with the same
/// default stream; one of them may be traced. Objects made through one can be used with the other.
/// With another default stream they cannot, because it changes the order of synchronous calls.
///
/// ```
/// use cuprum::{Driver, Library};
///
/// /// `Library::open()` finds the GPU's driver; the software device implements the same functions.
/// fn report(library: Library) -> Result<(), Box<dyn std::error::Error>> {
///     let driver = Driver::init(library)?;
///     println!("CUDA {}: {} devices", driver.version(), driver.devices()?.len());
///     Ok(())
/// }
///
/// report(cuprum_emulator::library())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    library: Library,
}

impl PartialEq for Driver {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.library == other.library || self.is_equal_by_another_table(*other)
    }
}

impl Eq for Driver {}

impl Driver {
    #[cold]
    #[inline(never)]
    fn is_equal_by_another_table(self, other: Self) -> bool {
        let (ours, theirs) = (self.library, other.library);
        ours.is_same_driver(theirs) && ours.stream_mode() == theirs.stream_mode()
    }

    /// Loads and initializes the system's driver. Later calls return it without a driver call.
    ///
    /// This function does not remember a failure, but initializes the driver at most once per
    /// process, because real drivers leak descriptors and threads on every failed attempt.
    ///
    /// # Errors
    /// [`DriverError::Load`], with every path tried; [`DriverError::Init`]: see [`Driver::init`].
    ///
    /// Driver: `cuInit`, CUDA 2.0+.
    #[doc(alias = "cuInit")]
    #[inline]
    pub fn load() -> Result<Self, DriverError> {
        static DRIVER: OnceCell<Driver> = OnceCell::new();
        DRIVER.get_or_try_init(|| Ok(Self::init(Library::open()?)?)).copied()
    }

    /// Initializes a loaded driver.
    ///
    /// # Errors
    /// `CUDA_ERROR_NO_DEVICE` without a GPU, `CUDA_ERROR_STUB_LIBRARY` for the toolkit's link stub,
    /// `CUDA_ERROR_SYSTEM_DRIVER_MISMATCH` and others that the driver reports; [`Error::FORKED`] in
    /// a forked child.
    ///
    /// Driver: `cuInit`, CUDA 2.0+.
    #[doc(alias = "cuInit")]
    #[inline]
    pub fn init(library: Library) -> Result<Self, Error> {
        Error::check(library, (library.init(), FnId::cuInit)).map(|()| Self { library })
    }

    /// Returns the loaded library: its version and its function table.
    pub const fn library(self) -> Library {
        self.library
    }

    /// Returns the newest CUDA version that the driver supports, as reported when it was loaded.
    ///
    /// Driver: `cuDriverGetVersion`, CUDA 2.2+.
    #[doc(alias = "cuDriverGetVersion")]
    #[inline]
    pub fn version(self) -> Version {
        self.library.version()
    }
}
