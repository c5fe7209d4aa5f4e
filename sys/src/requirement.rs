//! Requirements of programs on a driver.

use crate::error::{MissingFunction, MissingFunctions, TooOld};
use crate::fns::FnId;
use crate::library::Library;
use crate::version::Version;

/// A requirement of a program on a driver, for [`Library::require`]: a [`Version`], a function, or
/// a list of functions.
///
/// ```
/// use cuprum_sys::{FnId, Library, Requirement, Version};
///
/// /// True if the driver of this machine has a version, a function, or all of a list.
/// fn has(requirement: impl Requirement) -> bool {
///     Library::open().is_ok_and(|library| library.require(requirement).is_ok())
/// }
/// println!("{} {}", has(Version::new(11, 2)), has(&[FnId::cuMemAllocAsync, FnId::cuStreamGetId]));
/// ```
pub trait Requirement: sealed::Sealed {
    /// An error that names the missing parts, in one sentence.
    type Missing: std::error::Error;

    /// Compares it with a driver. No driver call.
    ///
    /// # Errors
    /// Fails if the driver does not meet the requirement.
    fn check(self, library: Library) -> Result<(), Self::Missing>;
}

impl Library {
    /// Checks that the driver meets a program's needs: a [`Version`], a function, or a list of
    /// functions. For applications, when they start. No driver call.
    ///
    /// # Errors
    /// [`TooOld`](crate::TooOld) names both versions, [`MissingFunction`] the function, the version
    /// that it came with and the driver's, [`MissingFunctions`](crate::MissingFunctions) lists all
    /// missing functions in one sentence.
    ///
    /// # Example
    /// ```
    /// use cuprum_sys::{FnId, Library};
    ///
    /// /// Functions that this program needs.
    /// const NEEDED: [FnId; 2] = [FnId::cuMemAllocAsync, FnId::cuStreamGetId];
    ///
    /// match Library::open() {
    ///     // For instance: "the driver has CUDA 11.0 and lacks cuMemAllocAsync (CUDA 11.2) and cuStreamGetId (CUDA 12.0):
    ///     // a driver of CUDA 12.0 or newer has all".
    ///     Ok(library) => library.require(&NEEDED)?,
    ///     Err(error) => println!("without a driver: {error}"),
    /// }
    /// # Ok::<(), cuprum_sys::MissingFunctions>(())
    /// ```
    pub fn require<R: Requirement>(self, needed: R) -> Result<(), R::Missing> {
        needed.check(self)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Version {}
    impl Sealed for super::FnId {}
    impl Sealed for &[super::FnId] {}
    impl<const COUNT: usize> Sealed for &[super::FnId; COUNT] {}
}

impl Requirement for Version {
    type Missing = TooOld;

    fn check(self, library: Library) -> Result<(), TooOld> {
        if library.version() < self {
            return Err(TooOld { needed: self, driver: library.version() });
        }
        Ok(())
    }
}

impl Requirement for FnId {
    type Missing = MissingFunction;

    fn check(self, library: Library) -> Result<(), MissingFunction> {
        library.require_fn(self)
    }
}

impl Requirement for &[FnId] {
    type Missing = MissingFunctions;

    fn check(self, library: Library) -> Result<(), MissingFunctions> {
        let missing = self.iter().filter_map(|function| library.require_fn(*function).err());
        let functions: Vec<_> = missing.collect();
        if functions.is_empty() {
            Ok(())
        } else {
            Err(MissingFunctions { functions, driver: library.version() })
        }
    }
}

impl<const COUNT: usize> Requirement for &[FnId; COUNT] {
    type Missing = MissingFunctions;

    fn check(self, library: Library) -> Result<(), MissingFunctions> {
        self.as_slice().check(library)
    }
}
