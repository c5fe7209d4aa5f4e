//! Work that can be queued while a stream is captured.

use cuprum_sys::{CUevent_record_flags, CUevent_wait_flags, FnId};

use super::capture::Capture;
use super::host::HostNode;
use super::kernel::NodeKernel;
use super::memory::between;
use super::{GraphError, HostLoan, Loan, SharedLoan};
use crate::context::ContextRef;
use crate::error::Error;
use crate::launch::{Arguments, LaunchConfig, Signature};
use crate::memory::{Buffer, DeviceData, Fill, Slice, SliceMut, bytes_of, copy, same_length};
use crate::raw::call::{context_call, either_call};
use crate::stream::Event;

impl<'a> Capture<'_, '_, 'a> {
    /// Lends device memory to the graph: like [`Graph::lend`](super::Graph::lend). No driver call.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] for memory of another context.
    pub fn lend<T: DeviceData>(&self, memory: SliceMut<'a, T>) -> Result<Loan<T>, GraphError> {
        self.accept(memory.context())?;
        Ok(self.shared.kept.borrow_mut().lend(memory))
    }

    /// Lends device memory to the graph to be read. No driver call.
    ///
    /// # Errors
    /// Those of [`lend`](Capture::lend).
    pub fn lend_shared<T: DeviceData>(&self, memory: Slice<'a, T>) -> Result<SharedLoan<T>, GraphError> {
        self.accept(memory.context())?;
        Ok(self.shared.kept.borrow_mut().lend_shared(memory))
    }

    /// Moves a buffer into the graph: like [`Graph::give`](super::Graph::give). No driver call.
    ///
    /// # Errors
    /// Those of [`lend`](Capture::lend); then the buffer is freed.
    pub fn give<T: DeviceData>(&self, buffer: Buffer<'a, T>) -> Result<Loan<T>, GraphError> {
        self.accept(buffer.context())?;
        Ok(self.shared.kept.borrow_mut().give(buffer))
    }

    pub(super) fn accept(&self, home: &ContextRef) -> Result<(), GraphError> {
        let here = home == self.stream.context();
        if here { Ok(()) } else { Err(Error::wrong_context(FnId::cuStreamBeginCapture_v2).into()) }
    }

    /// The current context, for a call on this lane.
    pub(super) fn ready(&self, call: FnId) -> Result<&ContextRef, GraphError> {
        Ok(self.cx.of(self.stream.context(), call)?)
    }

    pub(super) fn check<T: DeviceData>(&self, loan: SharedLoan<T>) -> Result<(), GraphError> {
        self.shared.kept.borrow().check(loan)
    }

    /// Adds the launch of a kernel.
    ///
    /// # Errors
    /// [`GraphError::Launch`] for a geometry beyond the limits; [`Error::is_wrong_context`] for a kernel of another
    /// context; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// # Safety
    /// The kernel is foreign code, and the caller answers for it in each replay: as
    /// [`Graph::add_kernel`](super::Graph::add_kernel). Lanes are ordered by [`fork`](Capture::fork) and
    /// [`join`](Capture::join) alone.
    ///
    /// Driver: `cuLaunchKernel`, CUDA 4.0+.
    #[doc(alias = "cuLaunchKernel")]
    pub unsafe fn launch<S: Signature, A: Arguments<S>>(
        &self,
        kernel: impl NodeKernel<'a, S>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<(), GraphError> {
        let function = kernel.kernel().function();
        self.accept(function.context())?;
        kernel.kernel().check(config)?;
        if let Some(share) = kernel.share() {
            self.shared.kept.borrow_mut().share(function.as_raw(), share);
        }
        arguments.with_pointers(|pointers| {
            // SAFETY: there is one pointer for each parameter, to a value of its size that outlives the call, which copies
            // them; the graph keeps the kernel, and the caller answers for it.
            unsafe { function.launch_pointers(self.cx, self.stream, config, pointers) }
        })?;
        Ok(())
    }

    /// Adds a fill of every element with `value`. Without elements, it adds nothing.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuMemsetD8Async`, `cuMemsetD16Async` or `cuMemsetD32Async`, CUDA 3.2+.
    #[doc(alias = "cuMemsetD8Async")]
    #[doc(alias = "cuMemsetD16Async")]
    #[doc(alias = "cuMemsetD32Async")]
    pub fn fill<T: Fill>(&self, memory: Loan<T>, value: T) -> Result<(), GraphError> {
        let context = self.ready(FnId::cuMemsetD32Async)?;
        self.check(memory.as_shared())?;
        // SAFETY: `len` elements of the pattern's width are the graph's as long as it can run; any bytes are a `T`.
        Ok(unsafe { copy::fill_on(context, self.as_raw(), memory.as_raw(), value.pattern(), memory.len()) }?)
    }

    /// Adds a copy within the device. Without elements, it adds nothing.
    ///
    /// # Errors
    /// Those of [`Graph::add_copy`](super::Graph::add_copy); `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuMemcpyDtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoDAsync_v2")]
    pub fn copy<T: DeviceData>(&self, to: Loan<T>, from: impl Into<SharedLoan<T>>) -> Result<(), GraphError> {
        let (context, from) = (self.ready(FnId::cuMemcpyDtoDAsync_v2)?, from.into());
        self.check(to.as_shared())?;
        self.check(from)?;
        let bytes = between(to, from)?.WidthInBytes;
        // SAFETY: both sides have `bytes` bytes, and are the graph's as long as it can run.
        Ok(unsafe { copy::within_on(context, self.as_raw(), to.as_raw(), from.as_raw(), bytes) }?)
    }

    /// Adds a copy from memory of the host, which is moved into the graph: as
    /// [`Graph::add_copy_from_host`](super::Graph::add_copy_from_host).
    ///
    /// # Errors
    /// Those of [`copy`](Capture::copy).
    ///
    /// Driver: `cuMemcpyHtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyHtoDAsync_v2")]
    pub fn copy_from_host<T: DeviceData>(
        &self,
        to: Loan<T>,
        host: Vec<T>,
    ) -> Result<HostLoan<T>, GraphError> {
        let context = self.ready(FnId::cuMemcpyHtoDAsync_v2)?;
        self.check(to.as_shared())?;
        same_length(to.len(), host.len())?;
        let bytes = bytes_of::<T>(host.len())?;
        let (loan, at) = self.shared.kept.borrow_mut().give_host(host);
        // SAFETY: both sides have `bytes` bytes; the graph keeps them as long as it can run.
        unsafe { copy::from_host_on(context, self.as_raw(), to.as_raw(), at.cast(), bytes) }?;
        Ok(loan)
    }

    /// Adds a copy to memory of the host, which is moved into the graph: as
    /// [`Graph::add_copy_to_host`](super::Graph::add_copy_to_host).
    ///
    /// # Errors
    /// Those of [`copy`](Capture::copy).
    ///
    /// Driver: `cuMemcpyDtoHAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoHAsync_v2")]
    pub fn copy_to_host<T: DeviceData>(
        &self,
        from: impl Into<SharedLoan<T>>,
        host: Vec<T>,
    ) -> Result<HostLoan<T>, GraphError> {
        let (context, from) = (self.ready(FnId::cuMemcpyDtoHAsync_v2)?, from.into());
        self.check(from)?;
        same_length(host.len(), from.len())?;
        let bytes = bytes_of::<T>(host.len())?;
        let (loan, at) = self.shared.kept.borrow_mut().give_host(host);
        if bytes > 0 {
            let (to, from, stream) = (at.cast(), from.as_raw(), self.as_raw());
            // SAFETY: both sides have `bytes` bytes; the graph keeps them as long as it can run, and after a wait that
            // failed the host side is never looked at or freed again.
            unsafe { context_call!(context, cuMemcpyDtoHAsync_v2(to, from, bytes, stream)) }?;
        }
        Ok(loan)
    }

    /// Adds a call of a function of the host: like [`Graph::add_host`](super::Graph::add_host).
    ///
    /// # Errors
    /// `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuLaunchHostFunc`, CUDA 10.0+, or `cuLaunchHostFunc_v2`, CUDA 13.1+, where a driver has only that.
    #[doc(alias = "cuLaunchHostFunc")]
    #[doc(alias = "cuLaunchHostFunc_v2")]
    pub fn host(&self, function: impl FnMut() + Send + 'static) -> Result<(), GraphError> {
        let context = self.ready(FnId::cuLaunchHostFunc)?;
        let call = HostNode::new(function);
        let params = HostNode::params(&call);
        self.shared.kept.borrow_mut().host_calls.push(call);
        let (stream, function, data, library) =
            (self.as_raw(), params.fn_, params.userData, context.library());
        // SAFETY: the stream is live; the graph keeps the function as long as it can run.
        let answer = unsafe {
            either_call!(library, cuLaunchHostFunc(stream, function, data)
                or cuLaunchHostFunc_v2(stream, function, data, 0))
        };
        answer.map_err(|error| context.record(error).into())
    }

    /// Adds a node that records an event in each replay, for others to wait for. It orders nothing within the graph.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] for an event of another context; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuEventRecordWithFlags`, CUDA 11.1+.
    #[doc(alias = "cuEventRecordWithFlags")]
    #[inline]
    pub fn record(&self, event: &'a Event<'_>) -> Result<(), GraphError> {
        let context = self.ready(FnId::cuEventRecordWithFlags)?;
        self.accept(event.context())?;
        let flags = CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL.0;
        let (event, stream) = (event.as_raw(), self.as_raw());
        // SAFETY: both handles are live, the event as long as the graph can run.
        Ok(unsafe { context_call!(context, cuEventRecordWithFlags(event, stream, flags)) }?)
    }

    /// Adds a node that waits for the event's last record before the replay.
    ///
    /// # Errors
    /// Those of [`record`](Capture::record).
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+.
    #[doc(alias = "cuStreamWaitEvent")]
    #[inline]
    pub fn wait(&self, event: &'a Event<'_>) -> Result<(), GraphError> {
        let context = self.ready(FnId::cuStreamWaitEvent)?;
        self.accept(event.context())?;
        let flags = CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL.0;
        let (event, stream) = (event.as_raw(), self.as_raw());
        // SAFETY: as in `record`.
        Ok(unsafe { context_call!(context, cuStreamWaitEvent(stream, event, flags)) }?)
    }
}
