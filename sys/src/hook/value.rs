//! Values of arguments.

use core::ffi::c_void;
use core::fmt;
use core::ptr;

/// Value of an argument.
pub(crate) trait Value: fmt::Debug {
    fn word(&self) -> u64;
}

/// Arguments are numbers, handles, pointers, and structures of these.
impl<T: Copy + fmt::Debug> Value for T {
    fn word(&self) -> u64 {
        let from = ptr::from_ref(self);
        if size_of::<T>() == size_of::<*const c_void>() {
            // SAFETY: as many bytes, all of them initialized in a number or a pointer; any are a
            // pointer of some kind.
            let pointer = unsafe { from.cast::<*const c_void>().read_unaligned() };
            return pointer.expose_provenance() as u64;
        }
        let mut bits = 0u64;
        if size_of::<T>() < size_of::<u64>() {
            // SAFETY: no more bytes than `bits` has; an argument of that size is a number, without
            // padding.
            unsafe { from.cast::<u8>().copy_to_nonoverlapping((&raw mut bits).cast(), size_of::<T>()) };
        }
        bits
    }
}
