//! Settings of a context.

use cuprum_sys::{
    CUexecAffinityParam, CUexecAffinityType, CUflushGPUDirectRDMAWritesScope,
    CUflushGPUDirectRDMAWritesTarget,
};

use super::call::context_call;
use super::{ContextFlags, Current};
use crate::error::Error;

impl Current<'_, '_> {
    /// Returns the flags of the context, including flags that the driver added.
    ///
    /// Driver: `cuCtxGetFlags`, CUDA 7.0+.
    #[doc(alias = "cuCtxGetFlags")]
    #[inline]
    pub fn flags(&self) -> Result<ContextFlags, Error> {
        let mut flags = 0;
        // SAFETY: `flags` outlives the call.
        unsafe { context_call!(self.checked()?, cuCtxGetFlags(&raw mut flags)) }?;
        Ok(ContextFlags::from_bits_retain(flags))
    }

    /// Sets the flags of the context, such as how the host waits for it.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for flags that the driver does not know or that exclude each
    /// other.
    ///
    /// Driver: `cuCtxSetFlags`, CUDA 12.1+.
    #[doc(alias = "cuCtxSetFlags")]
    #[inline]
    pub fn set_flags(&self, flags: ContextFlags) -> Result<(), Error> {
        // SAFETY: plain values.
        unsafe { context_call!(self.checked()?, cuCtxSetFlags(flags.bits())) }
    }

    /// Returns a number that identifies the context within the process. It is never reused.
    ///
    /// Driver: `cuCtxGetId`, CUDA 12.0+.
    #[doc(alias = "cuCtxGetId")]
    #[inline]
    pub fn id(&self) -> Result<u64, Error> {
        let (mut id, context) = (0, self.checked()?);
        // SAFETY: the context is live, and `id` outlives the call.
        unsafe { context_call!(context, cuCtxGetId(context.as_raw(), &raw mut id)) }?;
        Ok(id)
    }

    /// Resets all persisting lines of the L2 cache to normal.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` if the device has no persisting lines.
    ///
    /// Driver: `cuCtxResetPersistingL2Cache`, CUDA 11.0+.
    #[doc(alias = "cuCtxResetPersistingL2Cache")]
    #[inline]
    pub fn reset_persisting_l2_cache(&self) -> Result<(), Error> {
        // SAFETY: no arguments.
        unsafe { context_call!(self.checked()?, cuCtxResetPersistingL2Cache()) }
    }

    /// Returns the number of multiprocessors that the context is restricted to.
    ///
    /// # Errors
    /// `CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY` if the driver does not support such a restriction.
    ///
    /// Driver: `cuCtxGetExecAffinity`, CUDA 11.4+.
    #[doc(alias = "cuCtxGetExecAffinity")]
    #[inline]
    pub fn multiprocessor_affinity(&self) -> Result<u32, Error> {
        let mut affinity = CUexecAffinityParam::default();
        let kind = CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT;
        // SAFETY: `affinity` outlives the call.
        unsafe { context_call!(self.checked()?, cuCtxGetExecAffinity(&raw mut affinity, kind)) }?;
        // SAFETY: the driver has written this member for this kind; any bytes are a valid number.
        Ok(unsafe { affinity.param.smCount }.val)
    }

    /// Makes writes of other devices over the bus visible to the devices that `scope` selects.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` if the device cannot do this or does not need it.
    ///
    /// Driver: `cuFlushGPUDirectRDMAWrites`, CUDA 11.3+.
    #[doc(alias = "cuFlushGPUDirectRDMAWrites")]
    #[inline]
    pub fn flush_gpu_direct_rdma_writes(
        &self,
        target: CUflushGPUDirectRDMAWritesTarget,
        scope: CUflushGPUDirectRDMAWritesScope,
    ) -> Result<(), Error> {
        // SAFETY: plain values.
        unsafe { context_call!(self.checked()?, cuFlushGPUDirectRDMAWrites(target, scope)) }
    }
}
