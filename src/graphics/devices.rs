//! The devices of an OpenGL context.

use cuprum_sys::{CUGLDeviceList, CUdevice, FnId};

use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;

/// Number of devices in the first call; an OpenGL context on more devices needs a second call.
const DEVICES: usize = 16;

/// Returns the devices of the OpenGL context that is current on this thread: all of them, or the
/// ones that render the current or the next frame. Only CUDA contexts on
/// them can share its resources.
///
/// # Errors
/// `CUDA_ERROR_INVALID_GRAPHICS_CONTEXT` without such a context; `CUDA_ERROR_NO_DEVICE` if it has
/// none.
///
/// Driver: `cuGLGetDevices_v2`, CUDA 6.5+, twice if there are more than 16.
#[doc(alias = "cuGLGetDevices_v2")]
#[inline]
pub fn devices(driver: Driver, which: CUGLDeviceList) -> Result<Vec<Device>, Error> {
    let mut found: Vec<CUdevice> = vec![0; DEVICES];
    loop {
        let mut count = 0;
        let room = u32::try_from(found.len())
            .map_err(|_| Error::host(cuprum_sys::CUresult::CUDA_ERROR_UNKNOWN, FnId::cuGLGetDevices_v2))?;
        let (out, list) = (&raw mut count, found.as_mut_ptr());
        // SAFETY: `list` has room for this many devices, and both outlive the call.
        unsafe { driver_call!(driver.library(), cuGLGetDevices_v2(out, list, room, which)) }?;
        let grown = count as usize > found.len() && found.len() == DEVICES;
        found.resize(if grown { count as usize } else { found.len().min(count as usize) }, 0);
        if !grown {
            return Ok(found.into_iter().map(|raw| Device::new(driver, raw)).collect());
        }
    }
}
