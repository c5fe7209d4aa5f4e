//! User objects: objects of the client that live as long as graphs refer to them.

use core::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{Kind, Out, Table, calls, in_callback, put_handle};
use crate::driver::handle::Handle;

static USER_OBJECTS: Table<UserObject> = Table::new(Kind::UserObject);

/// An object of the client with a reference count.
#[derive(Debug)]
pub(crate) struct UserObject(Mutex<Owned>);

#[derive(Debug)]
struct Owned {
    pub(super) count: u32,
    destroy: CUhostFn,
    data: *mut c_void,
}

// SAFETY: the pointer is only passed to the client's destructor, which the driver may call on any
// thread by the contract of `cuUserObjectCreate`.
unsafe impl Send for UserObject {}
// SAFETY: as above.
unsafe impl Sync for UserObject {}

impl UserObject {
    pub(super) fn find(handle: CUuserObject) -> Answer<Arc<Self>> {
        USER_OBJECTS.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    pub(super) fn retain(&self, count: u32) {
        let mut owned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owned.count = owned.count.wrapping_add(count);
    }

    /// Releases references, and calls the destructor when none are left. As on an H100, releasing
    /// too many makes the count wrap around and has no other effect.
    pub(super) fn release(&self, handle: usize, count: u32) {
        let last = {
            let mut owned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            owned.count = owned.count.wrapping_sub(count);
            if owned.count == 0 { owned.destroy.take().map(|destroy| (destroy, owned.data)) } else { None }
        };
        if let Some((destroy, data)) = last {
            USER_OBJECTS.remove(handle);
            // SAFETY: the client's destructor with its registered pointer, taken, so called once.
            in_callback(|| unsafe { destroy(data) });
        }
    }
}

/// References of a graph to an object, released with the graph. The number wraps around if the
/// client releases more than the graph has.
#[derive(Debug)]
pub(super) struct Shared {
    object: Arc<UserObject>,
    handle: usize,
    count: u32,
}

impl Shared {
    fn among<'a>(all: &'a mut Vec<Shared>, object: &Arc<UserObject>, handle: usize) -> &'a mut Shared {
        let at = all.iter().position(|shared| shared.handle == handle).unwrap_or_else(|| {
            all.push(Shared { object: Arc::clone(object), handle, count: 0 });
            all.len() - 1
        });
        &mut all[at]
    }

    pub(super) fn give(all: &mut Vec<Shared>, object: &Arc<UserObject>, handle: usize, count: u32) {
        let shared = Self::among(all, object, handle);
        shared.count = shared.count.wrapping_add(count);
    }

    /// Removes references from a graph, which may have fewer.
    pub(super) fn take(all: &mut Vec<Shared>, object: &Arc<UserObject>, handle: usize, count: u32) {
        let shared = Self::among(all, object, handle);
        shared.count = shared.count.wrapping_sub(count);
    }
}

impl Clone for Shared {
    /// Retains the same number of further references.
    fn clone(&self) -> Self {
        self.object.retain(self.count);
        Self { object: Arc::clone(&self.object), handle: self.handle, count: self.count }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.count != 0 {
            self.object.release(self.handle, self.count);
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
        let object = UserObject::find(object)?;
        ensure(count > 0, INVALID_VALUE)?;
        object.retain(count);
        Ok(())
    }

    fn cuUserObjectRelease(_call, object: CUuserObject, count: u32) {
        let found = UserObject::find(object)?;
        ensure(count > 0, INVALID_VALUE)?;
        found.release(object.addr(), count);
        Ok(())
    }
}
