//! Device memory.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, CudaView, CudaViewMut};
use cuprum::memory::{DeviceData, ForeignBuffer, Slice, SliceMut};
use cuprum::stream::{Lent, Scope};
use cuprum::sys::{CUdeviceptr, CUstream, call};
use cuprum::{Buffer, ContextRef, Current};

use crate::BridgeError;
use crate::context::check;

/// Takes over memory of cudarc. Waits for all work of the context, because cudarc may have queued
/// work on the memory.
///
/// The buffer gives the memory back to cudarc when it is dropped, after another wait for all work
/// of the context. If that wait fails, the memory is leaked.
///
/// # Errors
/// [`BridgeError::OtherContext`]; [`BridgeError::OtherDriver`]; [`BridgeError::Cuprum`];
/// [`BridgeError::Memory`].
pub fn buffer<'ctx, T: DeviceData>(
    cx: &Current<'_, 'ctx>,
    slice: CudaSlice<T>,
) -> Result<ForeignBuffer<'ctx, T>, BridgeError> {
    check(cx.context(), slice.context(), "memory")?;
    cx.synchronize()?;
    let (address, len) = (address_of(&slice), slice.len());
    // Forgotten rather than dropped where the wait fails: work that is not over may use the memory.
    let slice = ManuallyDrop::new(slice);
    let release = move |context: &ContextRef, _| {
        let fns = context.driver().library().fns();
        // SAFETY: it has no arguments; the buffer has made its context current.
        context.check(unsafe { call!(fns, cuCtxSynchronize()) })?;
        drop(ManuallyDrop::into_inner(slice));
        Ok(())
    };
    // SAFETY: the slice owns so many elements, on which no work is queued; it moves into the
    // function, which frees it after a wait.
    let buffer = unsafe { ForeignBuffer::with_release(cx, address, len, release) };
    Ok(buffer?)
}

/// Gives a buffer to cudarc, which frees it in the order of `stream`. Waits for all work of the
/// context first.
///
/// After an error the buffer is freed.
///
/// # Errors
/// [`BridgeError::Empty`]; [`BridgeError::OtherContext`]; [`BridgeError::OtherDriver`];
/// [`BridgeError::Cuprum`]; [`BridgeError::Cudarc`].
pub fn cuda_slice<T: DeviceData>(
    cx: &Current<'_, '_>,
    stream: &Arc<CudaStream>,
    buffer: Buffer<'_, T>,
) -> Result<CudaSlice<T>, BridgeError> {
    check(cx.context(), stream.context(), "stream")?;
    check(buffer.context(), stream.context(), "memory")?;
    if buffer.is_empty() {
        return Err(BridgeError::Empty);
    }
    cx.synchronize()?;
    check_events(stream)?;
    let len = buffer.len();
    // SAFETY: the allocation has so many elements, holds values of `T`, and has no other owner.
    Ok(unsafe { stream.upgrade_device_ptr(buffer.into_raw(), len) })
}

/// Memory that is lent to a scope to be read, for cudarc. Made by [`view`].
pub struct View<'scope, T>(Borrowed<'scope, T>);

/// Memory that is lent to a scope to be written, for cudarc. Made by [`view_mut`].
pub struct ViewMut<'scope, T>(Borrowed<'scope, T>);

/// Returns memory that is lent to a scope, for calls of cudarc that read it on the stream of the
/// scope. No wait, no copy.
///
/// # Errors
/// [`BridgeError::OtherStream`] if the scope is not on `stream`; [`BridgeError::OtherContext`];
/// [`BridgeError::OtherDriver`]; [`BridgeError::Cudarc`] if it cannot make the events of a slice.
///
/// # Safety
/// Work of cudarc on the memory is queued on `stream` alone, or on streams for which `stream` waits
/// before the scope ends.
pub unsafe fn view<'scope, T: DeviceData>(
    scope: &Scope<'scope, '_>,
    stream: &Arc<CudaStream>,
    memory: &Lent<'scope, Slice<'_, T>>,
) -> Result<View<'scope, T>, BridgeError> {
    // SAFETY: the caller vouches for the stream.
    unsafe { borrow(scope, stream, memory.stream(), (memory.as_raw(), memory.len())) }.map(View)
}

/// Like [`view`], for calls of cudarc that write the memory.
///
/// # Errors
/// Same as [`view`].
///
/// # Safety
/// Same as [`view`]. If several of these are made of one loan, one call of cudarc does not get two
/// of them.
pub unsafe fn view_mut<'scope, T: DeviceData>(
    scope: &Scope<'scope, '_>,
    stream: &Arc<CudaStream>,
    memory: &Lent<'scope, SliceMut<'_, T>>,
) -> Result<ViewMut<'scope, T>, BridgeError> {
    // SAFETY: the caller vouches for the stream.
    unsafe { borrow(scope, stream, memory.stream(), (memory.as_raw(), memory.len())) }.map(ViewMut)
}

impl<T> View<'_, T> {
    /// The memory's type in cudarc, for arguments `&impl DevicePtr`.
    pub fn as_view(&self) -> CudaView<'_, T> {
        self.0.slice.as_view()
    }
}

impl<T> ViewMut<'_, T> {
    /// The memory's type in cudarc, for arguments `&mut impl DevicePtrMut`.
    pub fn as_view_mut(&mut self) -> CudaViewMut<'_, T> {
        self.0.slice.as_view_mut()
    }
}

/// A slice of cudarc that does not free its memory. `'scope` cannot be shortened, as in a loan.
struct Borrowed<'scope, T> {
    slice: ManuallyDrop<CudaSlice<T>>,
    _scope: PhantomData<&'scope mut &'scope ()>,
}

/// # Safety
/// The memory is lent to the stream `home` for `'scope`, and used on it alone.
unsafe fn borrow<'scope, T>(
    scope: &Scope<'scope, '_>,
    stream: &Arc<CudaStream>,
    home: CUstream,
    (address, len): (CUdeviceptr, usize),
) -> Result<Borrowed<'scope, T>, BridgeError> {
    check(scope.context(), stream.context(), "stream")?;
    if home != CUstream(stream.cu_stream().cast()) {
        return Err(BridgeError::OtherStream);
    }
    check_events(stream)?;
    // SAFETY: so many elements are there for `'scope`, and the slice does not free them.
    let slice = ManuallyDrop::new(unsafe { stream.upgrade_device_ptr(address, len) });
    Ok(Borrowed { slice, _scope: PhantomData })
}

impl<T> Drop for Borrowed<'_, T> {
    fn drop(&mut self) {
        // SAFETY: it is taken once, because this is dropped once.
        let slice = unsafe { ManuallyDrop::take(&mut self.slice) };
        // The memory stays with its owner, and the slice's events are freed.
        let _address = slice.leak();
    }
}

/// Makes an event if cudarc makes two for a slice, because its failure to do so is a panic. Reports
/// earlier errors of cudarc, too.
fn check_events(stream: &CudaStream) -> Result<(), BridgeError> {
    if stream.context().is_event_tracking() {
        drop(stream.context().new_event(None)?);
    }
    Ok(())
}

/// The address of a slice, without an order of streams.
fn address_of<T>(slice: &CudaSlice<T>) -> CUdeviceptr {
    use cudarc::driver::DevicePtr;
    let (address, recorded) = slice.device_ptr(slice.stream());
    drop(recorded);
    address
}

impl<T> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("len", &self.0.slice.len()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewMut").field("len", &self.0.slice.len()).finish_non_exhaustive()
    }
}
