//! Relations between two devices.

use cuprum_sys::{CUdevice_P2PAttribute, FnId};

use super::Device;
use crate::error::Error;
use crate::raw::call::driver_call;

impl Device {
    /// True if kernels on this device can access memory of `peer` directly, once access is enabled.
    /// A device is not its own peer.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] for a device of another driver.
    ///
    /// Driver: `cuDeviceCanAccessPeer`, CUDA 4.0+.
    #[doc(alias = "cuDeviceCanAccessPeer")]
    #[inline]
    pub fn can_access_peer(self, peer: Self) -> Result<bool, Error> {
        self.check_driver(peer, FnId::cuDeviceCanAccessPeer)?;
        let mut can = 0;
        let (to, device, peer) = (&raw mut can, self.as_raw(), peer.as_raw());
        // SAFETY: `can` outlives the call, and both are devices of this driver.
        unsafe { driver_call!(self.library(), cuDeviceCanAccessPeer(to, device, peer)) }?;
        Ok(can != 0)
    }

    /// Returns an attribute of the link from this device to `peer`.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an attribute that the driver does not know,
    /// `CUDA_ERROR_INVALID_DEVICE` if both are the same device; [`Error::WRONG_CONTEXT`] for a
    /// device of another driver.
    ///
    /// Driver: `cuDeviceGetP2PAttribute`, CUDA 8.0+.
    #[doc(alias = "cuDeviceGetP2PAttribute")]
    #[inline]
    pub fn peer_attribute(self, attribute: CUdevice_P2PAttribute, peer: Self) -> Result<i32, Error> {
        self.check_driver(peer, FnId::cuDeviceGetP2PAttribute)?;
        let mut value = 0;
        let (to, device, peer) = (&raw mut value, self.as_raw(), peer.as_raw());
        // SAFETY: `value` outlives the call, and both are devices of this driver.
        unsafe { driver_call!(self.library(), cuDeviceGetP2PAttribute(to, attribute, device, peer)) }?;
        Ok(value)
    }

    /// Fails for a device of another driver, because its number means another device here.
    pub(super) fn check_driver(self, other: Self, call: FnId) -> Result<(), Error> {
        if self.driver() == other.driver() { Ok(()) } else { Err(Error::wrong_context(call)) }
    }
}
