//! Values that the driver drops with the last graph that has them.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuprum_sys::{CUresult, CUuserObject, CUuserObject_flags, FnId};

use super::error::GraphError;
use super::graph::Graph;
use crate::context::{captures, context_call};
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::debug::debug;
use crate::raw::owner::as_raw;
use crate::swallowed;

/// A value that this handle, its copies, and the graphs that [retain](Graph::retain) it share,
/// including clones of a graph, its executables and their work in flight. The driver drops the
/// value with the last of them, on a thread of its own.
///
/// Objects that a graph of this crate borrows do not need it. It is for objects that other code
/// uses through raw handles.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use std::sync::Arc;
///
/// use cuprum::graph::{Graph, InstantiateFlags, UserObject};
///
/// let value = Arc::new(5);
/// let mut graph = Graph::new(&cx)?;
/// graph.retain(&UserObject::new(driver, Arc::clone(&value))?)?;
/// let exec = graph.instantiate(&cx, InstantiateFlags::empty())?;
/// assert_eq!(Arc::strong_count(&value), 2);
/// drop(exec);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct UserObject<T: Send + 'static> {
    raw: CUuserObject,
    driver: Driver,
    _value: PhantomData<T>,
}

// SAFETY: the driver counts, on any thread; this gives no access to the value.
unsafe impl<T: Send> Send for UserObject<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for UserObject<T> {}

/// Drops the value. The driver calls it after the last share is released.
unsafe extern "C" fn destroy<T>(value: *mut c_void) {
    // SAFETY: a box of this type that was given to the driver when the object was made; the driver
    // calls this once.
    let value = unsafe { Box::from_raw(value.cast::<T>()) };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // No code waits for the panic, and dropping its payload may panic.
        std::mem::forget(payload);
    }
}

impl<T: Send + 'static> UserObject<T> {
    /// Gives a value to the driver, which drops it on a thread of its own. Objects of this crate in
    /// the value [leak](crate::stream#on-the-drivers-threads). A panic of the drop is ignored.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors). After an error the value leaks, because the driver may
    /// have it.
    ///
    /// Driver: `cuUserObjectCreate`, CUDA 11.3+.
    #[doc(alias = "cuUserObjectCreate")]
    #[inline]
    pub fn new(driver: Driver, value: T) -> Result<Self, Error> {
        let (value, mut raw) = (Box::into_raw(Box::new(value)).cast::<c_void>(), CUuserObject::null());
        let flags = CUuserObject_flags::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC.0;
        let (to, free) = (&raw mut raw, Some(destroy::<T> as unsafe extern "C" fn(*mut c_void)));
        // SAFETY: the out-parameter outlives the call, and the driver owns the value from now on.
        unsafe { driver_call!(driver.library(), cuUserObjectCreate(to, value, free, 1, flags)) }?;
        Ok(Self { raw, driver, _value: PhantomData })
    }

    as_raw!(CUuserObject, |this| this.raw);

    /// Returns another handle to the same value.
    ///
    /// Driver: `cuUserObjectRetain`, CUDA 11.3+.
    #[doc(alias = "cuUserObjectRetain")]
    #[inline]
    pub fn share(&self) -> Result<Self, Error> {
        // SAFETY: the object is live, because this has a share of it.
        unsafe { driver_call!(self.driver.library(), cuUserObjectRetain(self.raw, 1)) }?;
        Ok(Self { raw: self.raw, driver: self.driver, _value: PhantomData })
    }

    /// Releases the share and reports the error that `Drop` would swallow.
    ///
    /// Driver: `cuUserObjectRelease`, CUDA 11.3+.
    #[doc(alias = "cuUserObjectRelease")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        let released = self.release();
        std::mem::forget(self);
        released
    }

    fn release(&self) -> Result<(), Error> {
        let library = self.driver.library();
        captures::free_beside(library, || {
            // SAFETY: this has one share, which is not used again.
            unsafe { driver_call!(library, cuUserObjectRelease(self.raw, 1)) }
        })
    }
}

impl<T: Send + 'static> Drop for UserObject<T> {
    fn drop(&mut self) {
        if let Err(error) = self.release() {
            if !error.is_deinitialized() && !error.is_forked() {
                swallowed::tell(error);
            }
        }
    }
}

impl Graph<'_> {
    /// Gives the graph a share of a value. Clones and executables of the graph have shares too.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] for an object of another driver.
    ///
    /// Driver: `cuGraphRetainUserObject`, CUDA 11.3+.
    #[doc(alias = "cuGraphRetainUserObject")]
    pub fn retain<T: Send>(&mut self, object: &UserObject<T>) -> Result<(), GraphError> {
        let (graph, raw) = (self.as_raw(), self.object(object)?);
        // SAFETY: graph and object are live.
        unsafe { context_call!(self.context(), cuGraphRetainUserObject(graph, raw, 1, 0)) }?;
        self.objects.push(raw.0.addr());
        Ok(())
    }

    /// Releases a share of the graph. Executables that were made before keep their shares.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if the graph has none; the errors of [`retain`](Graph::retain).
    ///
    /// Driver: `cuGraphReleaseUserObject`, CUDA 11.3+.
    #[doc(alias = "cuGraphReleaseUserObject")]
    pub fn release<T: Send>(&mut self, object: &UserObject<T>) -> Result<(), GraphError> {
        let (graph, raw) = (self.as_raw(), self.object(object)?);
        let Some(at) = self.objects.iter().position(|&given| given == raw.0.addr()) else {
            return Err(
                Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuGraphReleaseUserObject).into()
            );
        };
        // Each share is released once, also if the driver reports an error.
        self.objects.swap_remove(at);
        // SAFETY: graph and object are live, and the graph was given the share.
        Ok(unsafe { context_call!(self.context(), cuGraphReleaseUserObject(graph, raw, 1)) }?)
    }

    /// Returns the handle of an object of the graph's driver.
    fn object<T: Send>(&self, object: &UserObject<T>) -> Result<CUuserObject, GraphError> {
        let here = object.driver == self.context().driver();
        if here { Ok(object.raw) } else { Err(Error::wrong_context(FnId::cuGraphRetainUserObject).into()) }
    }
}

debug!([T: Send] UserObject<T>: |this| "{:?}", this.raw);
