//! Objects of the client whose life graphs share.

use core::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{Kind, Out, Table, calls, in_callback, put_handle};
use crate::driver::handle::Handle;

/// The live objects.
static USER_OBJECTS: Table<UserObject> = Table::new(Kind::UserObject);

/// An object of the client whose life graphs share.
#[derive(Debug)]
pub(crate) struct UserObject(Mutex<Owned>);

#[derive(Debug)]
struct Owned {
    pub(super) count: u32,
    destroy: CUhostFn,
    data: *mut c_void,
}

// SAFETY: the pointer is not followed here; it goes to the client's destructor, which the driver may call on any thread
// by the contract of `cuUserObjectCreate`.
unsafe impl Send for UserObject {}
// SAFETY: as above.
unsafe impl Sync for UserObject {}

impl UserObject {
    pub(super) fn find(handle: CUuserObject) -> Answer<Arc<Self>> {
        USER_OBJECTS.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    pub(super) fn retain(&self, count: u32) -> Answer {
        let mut owned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owned.count = owned.count.checked_add(count).ok_or(INVALID_VALUE)?;
        Ok(())
    }

    /// Gives up references; the last one calls the destructor.
    pub(super) fn release(&self, handle: usize, count: u32) -> Answer {
        let last = {
            let mut owned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            owned.count = owned.count.checked_sub(count).ok_or(INVALID_VALUE)?;
            (owned.count == 0).then_some((owned.destroy, owned.data))
        };
        if let Some((destroy, data)) = last {
            USER_OBJECTS.remove(handle);
            if let Some(destroy) = destroy {
                // SAFETY: the client's destructor, called with the pointer that it was given for, and once: the count was
                // not zero before and cannot rise again.
                in_callback(|| unsafe { destroy(data) });
            }
        }
        Ok(())
    }
}

/// References of a graph to an object; given up with the graph.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) object: Arc<UserObject>,
    pub(super) handle: usize,
    pub(super) count: u32,
}

impl Clone for Shared {
    /// The same number of further references.
    fn clone(&self) -> Self {
        // Too many references to count: the copy then has none to give up.
        let count = self.object.retain(self.count).map_or(0, |()| self.count);
        Self { object: Arc::clone(&self.object), handle: self.handle, count }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.count > 0 {
            // As many were counted when it was made.
            let _ = self.object.release(self.handle, self.count);
        }
    }
}

calls! {
    fn cuUserObjectCreate(
        _call,
        object_out: Out<CUuserObject>,
        ptr: *mut c_void,
        destroy: CUhostFn,
        initialRefcount: u32,
        flags: u32,
    ) {
        object_out.check()?;
        let no_sync = CUuserObject_flags::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC.0;
        ensure(destroy.is_some() && initialRefcount > 0 && flags == no_sync, INVALID_VALUE)?;
        let object = UserObject(Mutex::new(Owned {
            count: initialRefcount,
            destroy,
            data: ptr,
        }));
        put_handle(object_out, USER_OBJECTS.insert(object))
    }

    fn cuUserObjectRetain(_call, object: CUuserObject, count: u32) {
        UserObject::find(object)?.retain(count)
    }

    fn cuUserObjectRelease(_call, object: CUuserObject, count: u32) {
        UserObject::find(object)?.release(object.addr(), count)
    }
}
