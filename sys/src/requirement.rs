//! Requirements of programs on a driver.

use crate::error::{MissingFunction, MissingFunctions, TooOld};
use crate::fns::FnId;
use crate::library::Library;
use crate::version::Version;

/// A requirement of a program on a driver, for [`Library::require`]: a [`Version`], a function, or a list of
/// functions.
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
