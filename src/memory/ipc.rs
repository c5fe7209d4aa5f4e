//! Device memory shared between processes.

use cuprum_sys::{CUipcMem_flags, CUipcMemHandle, FnId};

use super::{Buffer, DeviceData, ForeignBuffer};
use crate::context::{ContextRef, Current, captures, context_call};
use crate::error::Error;
use crate::raw::call::either_call;

impl<T: DeviceData> Buffer<'_, T> {
    /// Returns the name of the allocation, with which other processes of the machine
    /// [open](ForeignBuffer::open_ipc) it: 64 bytes, to be sent in any way. It is the same for the
    /// life of the allocation.
    ///
    /// Exporting it needs no `unsafe`: other processes write valid values of `T`, because all bytes
    /// are valid, and only copies and kernels read them, never a reference. The process that opens
    /// the buffer promises that it is not freed meanwhile.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a buffer that owns nothing, and for kinds of memory without
    /// such a name; `CUDA_ERROR_NOT_SUPPORTED` if the system cannot share memory;
    /// [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuIpcGetMemHandle`, CUDA 4.1+.
    #[doc(alias = "cuIpcGetMemHandle")]
    #[inline]
    pub fn ipc_handle(&self, cx: &Current<'_, '_>) -> Result<[u8; 64], Error> {
        let context = cx.of(self.context(), FnId::cuIpcGetMemHandle)?;
        let mut handle = CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the out-parameter outlives the call; the address is of a live allocation, or 0.
        unsafe { context_call!(context, cuIpcGetMemHandle(&raw mut handle, self.as_raw())) }?;
        Ok(handle.reserved)
    }
}

impl<'ctx, T: DeviceData> ForeignBuffer<'ctx, T> {
    /// Opens an allocation of another process, with all elements from its start. If it is on
    /// another device, enables access to that device. Drop closes it, and never frees it.
    ///
    /// The other process may write at any time, so a copy may find old data, new data, or a mix.
    /// [Events](crate::stream::Event) between the processes order accesses. Opening an allocation
    /// again returns the same address, which must be closed once more.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::Current;
    /// use cuprum::memory::ForeignBuffer;
    ///
    /// /// The work of the process that received the handle.
    /// fn read(cx: &Current<'_, '_>, sent: [u8; 64]) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    ///     // SAFETY: the other process has sent the handle, and keeps the memory until this one reports that it is done.
    ///     let theirs = unsafe { ForeignBuffer::<f32>::open_ipc(cx, sent) }?;
    ///     Ok(theirs.as_slice().to_vec(cx)?)
    /// }
    /// # assert!(read(&cx, [0; 64]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_CONTEXT` in the process that allocated it; `CUDA_ERROR_INVALID_VALUE` if
    /// the allocation no longer exists; `CUDA_ERROR_NOT_SUPPORTED` if the system cannot share
    /// memory.
    ///
    /// # Safety
    /// 1. [`Buffer::ipc_handle`] or `cuIpcGetMemHandle` returned the handle, in a process of this
    ///    machine.
    /// 2. That process does not free the allocation before this value is closed or dropped.
    ///    (Drivers keep it until then, but their documentation does not say so.)
    /// 3. While a [`SliceMut`](super::SliceMut) of it is in use, no other code, of this process or
    ///    another, accesses the same elements; while a [`Slice`](super::Slice) is, none writes
    ///    them. Exceptions are accesses ordered by a stream, an event or a wait, and results that
    ///    may have any value.
    ///
    /// Driver: `cuIpcOpenMemHandle_v2`, CUDA 11.0+, or `cuIpcOpenMemHandle`, CUDA 4.1+; and
    /// `cuMemGetAddressRange_v2`, CUDA 3.2+; at its end `cuIpcCloseMemHandle`, CUDA 4.1+.
    #[doc(alias("cuIpcOpenMemHandle_v2", "cuIpcOpenMemHandle"))]
    #[doc(alias("cuMemGetAddressRange_v2", "cuIpcCloseMemHandle"))]
    #[inline]
    pub unsafe fn open_ipc(cx: &Current<'_, 'ctx>, handle: [u8; 64]) -> Result<Self, Error> {
        let context = cx.get()?;
        let (mut address, mut bytes) = (0, 0);
        let handle = CUipcMemHandle { reserved: handle };
        let flags = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0;
        // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the
        // caller guarantees the handle.
        unsafe {
            either_call!(
                context.library(),
                cuIpcOpenMemHandle_v2(&raw mut address, handle, flags) or
                cuIpcOpenMemHandle(&raw mut address, handle, flags)
            )
        }
        .map_err(|error| context.record(error))?;
        let close = |context: &ContextRef, address| {
            captures::free_beside(context.library(), || {
                // SAFETY: the memory is open, and not used again.
                unsafe { context_call!(context, cuIpcCloseMemHandle(address)) }
            })
        };
        let mut memory = Self::owning(context, address, 0, close);
        let (nothing, size) = (std::ptr::null_mut(), &raw mut bytes);
        // SAFETY: the out-parameter outlives the call, and the other one is null.
        unsafe { context_call!(&context, cuMemGetAddressRange_v2(nothing, size, address)) }?;
        memory.set_len(bytes.checked_div(size_of::<T>()).unwrap_or(0));
        Ok(memory)
    }
}
