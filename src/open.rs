//! The short way to a context: from the number of a device to a context that any thread can enter.

use cuprum_sys::Library;

use crate::any_error::Result;
use crate::context::{ContextRef, PrimaryContext};
use crate::driver::Driver;
use crate::raw::shared::Shared;

/// Loads and initializes the system's driver, and shares the primary context of a device, counted
/// from 0.
///
/// Other CUDA libraries of the process use the same context. Any thread can
/// [enter](crate::Shared::enter) it. It is released when its last handle and the last object made
/// in it are dropped.
///
/// ```
/// use cuprum::Buffer;
///
/// fn sum(numbers: &[u32]) -> cuprum::Result<u32> {
///     cuprum::open(0)?.enter(|cx| Ok(Buffer::from_slice(cx, numbers)?.to_vec(cx)?.iter().sum()))
/// }
///
/// match sum(&[1, 2, 3]) {
///     Ok(sum) => assert_eq!(sum, 6),
///     Err(error) => println!("no GPU here: {error}"),
/// }
/// ```
///
/// # Errors
/// [`AnyError::Load`](crate::AnyError::Load), with every path tried, if there is no driver; the
/// errors of [`Driver::init`], [`Driver::device`] and [`PrimaryContext::retain`]. Drivers before
/// CUDA 7.0 have only [`Context::create`](crate::context::Context::create).
///
/// Driver: `cuInit`, CUDA 2.0+; `cuDeviceGet`, CUDA 2.0+; `cuDevicePrimaryCtxRetain`, CUDA 7.0+.
#[doc(alias("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain"))]
#[inline]
pub fn open(ordinal: u32) -> Result<Shared<ContextRef>> {
    primary(Driver::load()?, ordinal)
}

/// Same as [`open`], with a loaded library, such as the software device of `cuprum-emulator`.
///
/// ```
/// // The software device; `open_driver_or_emulator` uses it only without a GPU, and reports why.
/// let context = cuprum::open_in(cuprum_emulator::library(), 0)?;
/// assert!(context.driver().library().is_software_device());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Same as [`Driver::init`], [`Driver::device`] and [`PrimaryContext::retain`].
///
/// Driver: `cuInit`, CUDA 2.0+; `cuDeviceGet`, CUDA 2.0+; `cuDevicePrimaryCtxRetain`, CUDA 7.0+.
#[doc(alias("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain"))]
#[inline]
pub fn open_in(library: Library, ordinal: u32) -> Result<Shared<ContextRef>> {
    primary(Driver::init(library)?, ordinal)
}

fn primary(driver: Driver, ordinal: u32) -> Result<Shared<ContextRef>> {
    Ok(PrimaryContext::retain(driver.device(ordinal)?)?.share())
}
