//! The driver and its contexts.

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaContext;
use cudarc::driver::sys::{CUctx_st, culib, is_culib_present};
use cuprum::context::PrimaryContext;
use cuprum::sys::Library;
use cuprum::{ContextRef, Current, Driver, Shared};

use crate::BridgeError;

/// Returns the driver that cudarc has loaded, for cuprum. No driver is initialized.
///
/// If `Library::open` finds the same file, both are tables of [one
/// driver](Library::is_same_driver), so that either of them can be used.
///
/// # Errors
/// [`BridgeError::NoDriver`]; [`BridgeError::Load`].
pub fn library() -> Result<Library, BridgeError> {
    // Each conversion asks for it.
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    if let Some(library) = LIBRARY.get() {
        return Ok(*library);
    }
    let library = load()?;
    Ok(*LIBRARY.get_or_init(|| library))
}

fn load() -> Result<Library, BridgeError> {
    // SAFETY: it loads a library by the driver's name, as opening a driver does.
    if !unsafe { is_culib_present() } {
        return Err(BridgeError::NoDriver);
    }
    // SAFETY: as above.
    let library = unsafe { culib() };
    let address = |name: &[u8]| {
        // SAFETY: the address is not called here.
        let symbol = unsafe { library.get::<*const c_void>(name) };
        symbol.map_or(std::ptr::null(), |symbol| *symbol)
    };
    let is_software = !address(b"cuprum_software_device").is_null();
    let options = Library::options().software_device(is_software);
    // SAFETY: a symbol of this name in a CUDA driver is this function, and cudarc never unloads the
    // library.
    Ok(unsafe { options.from_resolver("cudarc", |symbol| address(symbol.name.to_bytes_with_nul())) }?)
}

/// Returns cuprum's share of the context of cudarc: both retain the primary context of the device.
///
/// # Errors
/// [`BridgeError::NotPrimary`] for a context made by `new_non_primary` or `from_raw_context`; the
/// errors of [`library`]; [`BridgeError::Cuprum`].
pub fn context(theirs: &CudaContext) -> Result<Shared<ContextRef>, BridgeError> {
    let driver = Driver::init(library()?)?;
    let ordinal = u32::try_from(theirs.ordinal()).unwrap_or(u32::MAX);
    let ours = PrimaryContext::retain(driver.device(ordinal)?)?;
    if !is_of(&ours, theirs) {
        return Err(BridgeError::NotPrimary);
    }
    Ok(ours.share())
}

/// Returns cudarc's share of the current context: both retain the primary context of the device.
///
/// # Errors
/// [`BridgeError::NotPrimary`] for a context of its own; [`BridgeError::OtherDriver`]; the errors
/// of [`library`]; [`BridgeError::Cuprum`]; [`BridgeError::Cudarc`].
pub fn cuda_context(cx: &Current<'_, '_>) -> Result<Arc<CudaContext>, BridgeError> {
    check_driver(cx.context())?;
    let device = cx.context().device();
    // Before cudarc makes it current: in place of another context it would stay current.
    if PrimaryContext::retain(device)?.as_raw() != cx.context().as_raw() {
        return Err(BridgeError::NotPrimary);
    }
    // The driver numbers its devices by handles from 0 on.
    let theirs = CudaContext::new(device.as_raw() as usize)?;
    if is_of(cx.context(), &theirs) { Ok(theirs) } else { Err(BridgeError::NotPrimary) }
}

/// Checks that both crates use one driver.
fn check_driver(ours: &ContextRef) -> Result<(), BridgeError> {
    let driver = ours.driver().library();
    if library()?.is_same_driver(driver) { Ok(()) } else { Err(BridgeError::OtherDriver(driver.origin())) }
}

/// Checks that an object of cudarc belongs to a context of cuprum.
pub(crate) fn check(
    ours: &ContextRef,
    theirs: &CudaContext,
    object: &'static str,
) -> Result<(), BridgeError> {
    check_driver(ours)?;
    if is_of(ours, theirs) { Ok(()) } else { Err(BridgeError::OtherContext(object)) }
}

/// True if both handles are one context; they mean the same in one driver alone.
fn is_of(ours: &ContextRef, theirs: &CudaContext) -> bool {
    ours.as_raw().0.cast::<CUctx_st>() == theirs.cu_ctx()
}
