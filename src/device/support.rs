//! Features of a device besides its attributes, and its names in other systems.

use cuprum_sys::{CUarray_format, CUatomicOperation, CUexecAffinityType, CUresult, FnId};

use super::Device;
use crate::error::Error;
use crate::raw::call::driver_call;

impl Device {
    /// Returns the locally unique identifier that Windows gives to the device, for DirectX and
    /// Vulkan, valid until the next system start, and one bit per device of a linked group.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` on other systems, and on Windows for devices without a display.
    ///
    /// Driver: `cuDeviceGetLuid`, CUDA 10.0+.
    #[doc(alias = "cuDeviceGetLuid")]
    #[inline]
    pub fn luid(self) -> Result<([u8; 8], u32), Error> {
        let (mut luid, mut node_mask) = ([0; 8], 0);
        let (bytes, mask) = ((&raw mut luid).cast(), &raw mut node_mask);
        // SAFETY: both out-parameters outlive the call, and the first has the eight bytes that are
        // written.
        unsafe { driver_call!(self.library(), cuDeviceGetLuid(bytes, mask, self.as_raw())) }?;
        Ok((luid, node_mask))
    }

    /// Returns the largest width, in elements, of a one-dimensional texture over linear memory, for
    /// a format and 1, 2 or 4 channels.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a format or a number of channels without textures.
    ///
    /// Driver: `cuDeviceGetTexture1DLinearMaxWidth`, CUDA 11.1+.
    #[doc(alias = "cuDeviceGetTexture1DLinearMaxWidth")]
    #[inline]
    pub fn max_texture_1d_linear_width(self, format: CUarray_format, channels: u32) -> Result<usize, Error> {
        let mut width = 0;
        let (to, raw) = (&raw mut width, self.as_raw());
        // SAFETY: `width` outlives the call, and `raw` is a device of this driver.
        unsafe {
            driver_call!(self.library(), cuDeviceGetTexture1DLinearMaxWidth(to, format, channels, raw))
        }?;
        Ok(width)
    }

    /// True if a context can be restricted in this way to a part of the device.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a kind that the driver does not know.
    ///
    /// Driver: `cuDeviceGetExecAffinitySupport`, CUDA 11.4+.
    #[doc(alias = "cuDeviceGetExecAffinitySupport")]
    #[inline]
    pub fn supports_exec_affinity(self, kind: CUexecAffinityType) -> Result<bool, Error> {
        let mut supported = 0;
        let (to, raw) = (&raw mut supported, self.as_raw());
        // SAFETY: `supported` outlives the call, and `raw` is a device of this driver.
        unsafe { driver_call!(self.library(), cuDeviceGetExecAffinitySupport(to, kind, raw)) }?;
        Ok(supported != 0)
    }

    /// Returns which atomic operations the device supports on memory of `peer`, or of the host
    /// without one: per operation, bits of `CUatomicOperationCapability`, none if unsupported.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` without operations, or for one that the driver does not know;
    /// [`Error::WRONG_CONTEXT`] for a device of another driver.
    ///
    /// Driver: `cuDeviceGetHostAtomicCapabilities`, CUDA 13.0+, or with a peer
    /// `cuDeviceGetP2PAtomicCapabilities`, CUDA 13.0+.
    #[doc(alias("cuDeviceGetHostAtomicCapabilities", "cuDeviceGetP2PAtomicCapabilities"))]
    #[inline]
    pub fn atomic_capabilities(
        self,
        operations: &[CUatomicOperation],
        peer: Option<Self>,
    ) -> Result<Vec<u32>, Error> {
        let call = FnId::cuDeviceGetHostAtomicCapabilities;
        let many = |_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call);
        let count = u32::try_from(operations.len()).map_err(many)?;
        let mut capabilities = vec![0; operations.len()];
        let (library, to, from) = (self.library(), capabilities.as_mut_ptr(), operations.as_ptr());
        let device = self.as_raw();
        match peer {
            // SAFETY: both arrays have `count` elements and outlive the call; the device is of this
            // driver.
            None => unsafe {
                driver_call!(library, cuDeviceGetHostAtomicCapabilities(to, from, count, device))
            },
            Some(peer) => {
                self.check_driver(peer, FnId::cuDeviceGetP2PAtomicCapabilities)?;
                let peer = peer.as_raw();
                // SAFETY: as above, for both devices.
                unsafe {
                    driver_call!(library, cuDeviceGetP2PAtomicCapabilities(to, from, count, device, peer))
                }
            }
        }?;
        Ok(capabilities)
    }
}
