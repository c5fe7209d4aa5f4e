//! What calls gave through their first parameter.

use super::{Call, parameter};
use crate::fns::FnId;

/// Functions whose first parameter is an array, which may be empty.
const ARRAYS: &[FnId] = &[
    FnId::cuDeviceGetHostAtomicCapabilities,
    FnId::cuDeviceGetP2PAtomicCapabilities,
    FnId::cuModuleEnumerateFunctions,
    FnId::cuLibraryEnumerateKernels,
    FnId::cuMemcpyBatchAsync,
    FnId::cuMemcpyBatchAsync_v2,
    FnId::cuMemPrefetchBatchAsync,
    FnId::cuMemDiscardBatchAsync,
    FnId::cuMemDiscardAndPrefetchBatchAsync,
];

impl Call<'_> {
    /// What the call gave through its first parameter, if that is a pointer to one handle, address or number; `None` for
    /// other functions. [`Parameter::given_text`](super::Parameter::given_text) makes a text of it.
    ///
    /// # Safety
    /// The call has been passed on, and succeeded.
    #[must_use]
    pub unsafe fn given(&self) -> Option<u64> {
        let first = self.arguments().next()?;
        let ty = first.ty().strip_prefix("*mut ")?;
        if first.word() == 0 || ARRAYS.contains(&self.function()) {
            return None;
        }
        let place = std::ptr::with_exposed_provenance::<u8>(first.word() as usize);
        macro_rules! read {
            ($ty:ty) => {{
                // SAFETY: not null and no array: by the driver API one value of this type, which the call has written, as
                // the caller says.
                unsafe { place.cast::<$ty>().read_unaligned() }
            }};
        }
        Some(match ty {
            "i32" | "CUdevice" | "u32" | "f32" => read!(u32).into(),
            "usize" => read!(usize) as u64,
            ty if parameter::is_handle(ty) => read!(u64),
            _ => return None,
        })
    }
}
