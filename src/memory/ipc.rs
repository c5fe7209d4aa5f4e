//! Device memory that several processes have.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::{CUdeviceptr, CUipcMem_flags, CUipcMemHandle, CUresult, FnId, Fns, call};

use super::elements::elements;
use super::{Buffer, DeviceData, Slice, SliceMut};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::{context_call, either_call};
use crate::raw::held::{Handle, Held};

impl<T: DeviceData> Buffer<'_, T> {
    /// The name of the allocation, for other processes of the machine to [open](IpcBuffer::open): 64 bytes, to be sent in any
    /// way, and the same as long as it lives.
    ///
    /// Giving it away needs no `unsafe`: what others write is some value of `T`, as everything is, and is met by copies and
    /// kernels alone, never through a reference. Freeing the buffer while another process has it open is for that process
    /// to rule out, which promises it when it opens.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a buffer that owns nothing, and for memory of a kind that has no such name;
    /// `CUDA_ERROR_NOT_SUPPORTED` where the system shares none; [`Error::is_wrong_context`].
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// let weights = cuprum::Buffer::from_slice(&cx, &[1.0f32, 2.0])?;
    /// # if cfg!(target_os = "linux") {
    /// // Sent through a socket, a pipe or a file.
    /// let bytes: [u8; 64] = weights.ipc_handle(&cx)?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Driver: `cuIpcGetMemHandle`, CUDA 4.1+.
    #[doc(alias = "cuIpcGetMemHandle")]
    #[inline]
    pub fn ipc_handle(&self, cx: &Current<'_, '_>) -> Result<[u8; 64], Error> {
        let context = cx.of(self.context(), FnId::cuIpcGetMemHandle)?;
        let mut handle = CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the out-parameter outlives the call; the address is that of a live allocation, or 0.
        unsafe { context_call!(context, cuIpcGetMemHandle(&raw mut handle, self.as_raw())) }?;
        Ok(handle.reserved)
    }
}

/// Memory of another process by its address here.
#[derive(Clone, Copy)]
struct Opened(CUdeviceptr);

// SAFETY: the driver allows any thread to use and to close such memory.
unsafe impl Handle for Opened {
    const NAME: &'static str = "Opened";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that the memory is open and not used again.
        unsafe { call!(fns, cuIpcCloseMemHandle(self.0)) }
    }
}

/// Elements of `T` in an allocation of another process, which is closed on drop and never freed.
///
/// It lends [slices](Slice), as every kind of memory does, and is an argument of kernels. The other process may write at any
/// time: what a copy finds then is old or new, or some of both. [Events](crate::stream::Event) between the processes make an order.
///
/// Opening what this process has opened already gives the same address, and one more to close.
///
/// Drop works on any thread, swallows errors and does nothing in a forked child; [`close`](IpcBuffer::close) reports.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Current;
/// use cuprum::memory::IpcBuffer;
///
/// /// What the process that was sent a handle does.
/// fn read(cx: &Current<'_, '_>, sent: [u8; 64]) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
///     // SAFETY: the other process has sent the handle, and keeps the memory until it is told that we are done.
///     let theirs = unsafe { IpcBuffer::<f32>::open(cx, sent) }?;
///     Ok(theirs.as_slice().to_vec(cx)?)
/// }
/// # assert!(read(&cx, [0; 64]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IpcBuffer<'ctx, T: DeviceData> {
    memory: Held<'ctx, Opened>,
    len: usize,
    _elements: PhantomData<T>,
}

elements! {
    IpcBuffer(this): this.memory.raw().0, of this.memory, this.len;
    as_raw: "Address of the first element in device memory of this process.", context: "The context in which it was opened."
}

impl<'ctx, T: DeviceData> IpcBuffer<'ctx, T> {
    /// Opens an allocation of another process: as many elements as lie in it, from its start. Switches access to the other
    /// device on if it is of another one.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_CONTEXT` in the process that allocated it; `CUDA_ERROR_INVALID_VALUE` if there is no such
    /// allocation any more; `CUDA_ERROR_NOT_SUPPORTED` where the system shares none.
    ///
    /// # Safety
    /// 1. [`Buffer::ipc_handle`] gave the handle, or `cuIpcGetMemHandle`, in a process of this machine.
    /// 2. That process does not free the allocation before this value is closed or dropped. (Drivers keep it until then,
    ///    but their documentation does not say so.)
    /// 3. While a [`SliceMut`] of it is in use, no other code, of this process or another, accesses the same elements, and
    ///    while a [`Slice`] is, none writes them, unless a stream, an event or a wait puts it in order or the result may be
    ///    any.
    ///
    /// Driver: `cuIpcOpenMemHandle_v2`, CUDA 11.0+, or `cuIpcOpenMemHandle`, CUDA 4.1+; and `cuMemGetAddressRange_v2`, CUDA 3.2+.
    #[doc(alias("cuIpcOpenMemHandle_v2", "cuIpcOpenMemHandle", "cuMemGetAddressRange_v2"))]
    #[inline]
    pub unsafe fn open(cx: &Current<'_, 'ctx>, handle: [u8; 64]) -> Result<Self, Error> {
        let context = cx.get()?;
        let (mut address, mut bytes) = (0, 0);
        let handle = CUipcMemHandle { reserved: handle };
        let flags = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0;
        // SAFETY: the out-parameter outlives the call, and `cx` proves a current context; the caller vouches for the handle.
        unsafe {
            either_call!(
                context.library(),
                cuIpcOpenMemHandle_v2(&raw mut address, handle, flags) or
                cuIpcOpenMemHandle(&raw mut address, handle, flags)
            )
        }
        .map_err(|error| context.record(error))?;
        let memory = Held::new(Opened(address), context);
        let (nothing, size) = (std::ptr::null_mut(), &raw mut bytes);
        // SAFETY: the out-parameter outlives the call, and the other one is not wanted.
        unsafe { context_call!(&context, cuMemGetAddressRange_v2(nothing, size, address)) }?;
        let len = bytes.checked_div(size_of::<T>()).unwrap_or(0);
        Ok(Self { memory, len, _elements: PhantomData })
    }

    /// Closes the memory and reports what `Drop` would swallow. It is closed after an error too.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuIpcCloseMemHandle`, CUDA 4.1+.
    #[doc(alias = "cuIpcCloseMemHandle")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.memory.close()
    }
}
