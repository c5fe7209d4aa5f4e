//! Global variables of a module.

use std::marker::PhantomData;

use cuprum_sys::{CUdeviceptr, CUresult};

use super::ModuleError;
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::place::kind::{Host, kinds, pairs};
use crate::memory::place::place;
use crate::memory::{Device, DeviceData, MemoryError, Slice, SliceMut};
use crate::raw::debug::debug;
use crate::raw::keep::Near;

/// A `__device__` or `__constant__` variable, as elements of `T`. It borrows its module.
///
/// Kernels can read and write it at any time, and several values of this type can name the same
/// variable. So it supports copies, but never borrowed slices.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// let ptx = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .global .u32 count[2];";
/// let module = cuprum::Module::load_ptx(&cx, ptx)?;
/// let mut count = module.global::<u32>("count")?;
/// cx.copy(&mut count, &[1, 2])?;
/// let mut host = [0; 2];
/// cx.copy(&mut host, &count)?;
/// assert_eq!(host, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Global<'m, T: DeviceData> {
    address: CUdeviceptr,
    len: usize,
    context: Near<'m, ContextRef>,
    _elements: PhantomData<T>,
}

impl<'m, T: DeviceData> Global<'m, T> {
    /// Queries the variable of this name, which lives for `'m`, and checks its size.
    pub(super) fn find(
        context: Near<'m, ContextRef>,
        name: &str,
        ask: impl FnOnce(&ContextRef, *mut CUdeviceptr, *mut usize) -> Result<(), Error>,
    ) -> Result<Self, ModuleError> {
        let (mut address, mut bytes) = (0, 0);
        ask(&context, &raw mut address, &raw mut bytes).map_err(|error| match error.code() {
            CUresult::CUDA_ERROR_NOT_FOUND => ModuleError::NoGlobal { error, name: name.to_owned() },
            _ => error.into(),
        })?;
        let element_bytes = size_of::<T>();
        match bytes.checked_rem(element_bytes) {
            Some(0) => Ok(Self { address, len: bytes / element_bytes, context, _elements: PhantomData }),
            _ => Err(ModuleError::GlobalSize { name: name.to_owned(), bytes, element_bytes }),
        }
    }

    /// The address in device memory.
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

debug!([T: DeviceData] Global<'_, T>: |this| "{:#x}, {} elements", this.address, this.len);

kinds! {
    /// A variable of a module. Not copied to another variable, which may be the same one.
    Variable: Slice<'a, T>, SliceMut<'a, T>;
}

place! {
    [T: DeviceData] Global<'_, T>: Variable, of T,
    read |this| Slice::new(this.address, this.len, this.context),
    write |this| SliceMut::new(this.address, this.len, this.context)
}

pairs! {
    Variable from Host: |cx, to, from| { let mut to = to; cx.copy(&mut to, from) }
    Variable from Device: |cx, to, from| { let mut to = to; cx.copy(&mut to, &from) }
    Host from Variable: |cx, to, from| { cx.copy(to, &from) }
    Device from Variable: |cx, to, from| { let mut to = to; cx.copy(&mut to, &from) }
}
