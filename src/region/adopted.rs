//! Owners of memory that a pool can adopt.

use crate::context::ContextRef;
use crate::memory::{Buffer, DeviceData, ForeignBuffer, ManagedBuffer};

pub(super) mod sealed {
    use std::any::Any;

    use super::ContextRef;

    /// An owner of device memory, for [`adopt`](crate::region::Pool::adopt).
    #[diagnostic::on_unimplemented(
        message = "a pool cannot adopt `{Self}`",
        label = "a `Buffer`, `ManagedBuffer` or `ForeignBuffer` of a shared context can be adopted"
    )]
    pub trait Owner: Any + Send + Sync {
        /// Address and size in bytes.
        fn place(&self) -> (u64, usize);

        fn home(&self) -> &ContextRef;
    }
}

macro_rules! owners {
    ($($owner:ident)*) => { $(
        impl<T: DeviceData> sealed::Owner for $owner<'static, T> {
            fn place(&self) -> (u64, usize) {
                (self.as_raw(), self.len() * size_of::<T>())
            }

            fn home(&self) -> &ContextRef {
                self.context()
            }
        }
    )* };
}

owners! { Buffer ManagedBuffer ForeignBuffer }
