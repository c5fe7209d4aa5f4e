//! An owned managed tensor.

use std::ffi::c_void;
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ptr::{self, NonNull};

use super::abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor, READ_ONLY, VERSION,
};

/// A managed tensor: memory with a shape, and its producer's deleter, which drop calls.
///
/// It can be sent to any thread and dropped there, as producers of both kinds allow.
///
/// # Example
/// ```
/// use cuprum::dlpack::Tensor;
/// use cuprum::dlpack::abi::{CPU, DLDataType, DLDevice};
///
/// let tensor = Tensor::export(vec![1u8, 2, 3, 4, 5, 6], &[2, 3])?;
/// assert_eq!(tensor.device(), DLDevice { device_type: CPU, device_id: 0 });
/// assert_eq!(tensor.data_type(), DLDataType { code: 1, bits: 8, lanes: 1 });
/// assert_eq!(tensor.as_host_slice::<u8>()?[..2], [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tensor(Raw);

#[derive(Clone, Copy)]
enum Raw {
    Versioned(NonNull<DLManagedTensorVersioned>),
    Unversioned(NonNull<DLManagedTensor>),
}

// SAFETY: the constructors require that any thread may use and free it.
unsafe impl Send for Tensor {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Tensor {}

/// A pointer that is not a readable managed tensor. The pointed-to tensor was not freed.
///
/// # Example
/// ```
/// use cuprum::dlpack::{NotATensor, Tensor};
///
/// // SAFETY: null is recognized.
/// let result = unsafe { Tensor::from_versioned(std::ptr::null_mut()) };
/// assert_eq!(result.err(), Some(NotATensor::Null));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotATensor {
    /// The pointer is null.
    #[error("a null pointer is not a tensor")]
    Null,
    /// The revision has a different layout.
    #[error("the tensor is of DLPack {major}, but only DLPack 1 is supported")]
    Version {
        /// Its major version.
        major: u32,
    },
    /// The number of dimensions is negative, the shape is missing or has a negative length, or the
    /// number of elements overflows.
    #[error("the tensor's shape is invalid")]
    Shape,
}

impl Tensor {
    /// Takes ownership of a managed tensor from a capsule `dltensor_versioned` (to be renamed to
    /// `used_dltensor_versioned`).
    ///
    /// # Errors
    /// [`NotATensor`]; then the caller keeps the tensor. A tensor of another major version can be
    /// freed by its own deleter.
    ///
    /// # Safety
    /// 1. The pointer is null, or a live managed tensor of DLPack, which the caller owns and gives
    ///    up.
    /// 2. Any thread may read it and call its deleter.
    /// 3. At its address, memory exists for its shape and strides until the deleter is called.
    ///    Memory of a CUDA device is accessible to the contexts that the driver reports, or to the
    ///    device's primary one.
    /// 4. Meanwhile, accesses by other code that conflict with accesses through this value, or
    ///    objects made from it, are ordered by a stream, an event or a wait.
    #[inline]
    pub unsafe fn from_versioned(tensor: *mut DLManagedTensorVersioned) -> Result<Self, NotATensor> {
        let raw = NonNull::new(tensor).ok_or(NotATensor::Null)?;
        // SAFETY: live, guaranteed by the caller; every revision begins with the version.
        let major = unsafe { (*tensor).version.major };
        if major != VERSION.major {
            return Err(NotATensor::Version { major });
        }
        Self::checked(Raw::Versioned(raw))
    }

    /// Same as [`from_versioned`](Tensor::from_versioned), for a `dltensor`, without version or
    /// flags.
    ///
    /// # Errors
    /// Same as [`from_versioned`](Tensor::from_versioned).
    ///
    /// # Safety
    /// Same as [`from_versioned`](Tensor::from_versioned); the memory is writable if it will be
    /// written.
    #[inline]
    pub unsafe fn from_unversioned(tensor: *mut DLManagedTensor) -> Result<Self, NotATensor> {
        Self::checked(Raw::Unversioned(NonNull::new(tensor).ok_or(NotATensor::Null)?))
    }

    /// Takes ownership of a tensor that this crate has just made.
    ///
    /// # Safety
    /// It is not null; otherwise same as [`from_versioned`](Tensor::from_versioned).
    pub(super) unsafe fn made(tensor: *mut DLManagedTensorVersioned) -> Self {
        // SAFETY: guaranteed by the caller.
        Self(Raw::Versioned(unsafe { NonNull::new_unchecked(tensor) }))
    }

    fn checked(raw: Raw) -> Result<Self, NotATensor> {
        // Not freed if it is refused.
        let tensor = ManuallyDrop::new(Self(raw));
        let inner = tensor.inner();
        let has_shape = inner.ndim == 0 || (inner.ndim > 0 && !inner.shape.is_null());
        let lengths_are_fine = has_shape && tensor.shape().iter().all(|&length| length >= 0);
        if !lengths_are_fine || tensor.len_checked().is_none() {
            return Err(NotATensor::Shape);
        }
        Ok(ManuallyDrop::into_inner(tensor))
    }

    /// Releases ownership as a pointer for a capsule `dltensor_versioned`, with its deleter.
    ///
    /// A tensor without a version is wrapped, as a writable one.
    #[must_use = "the tensor is freed by its deleter alone"]
    #[inline]
    pub fn into_versioned(self) -> *mut DLManagedTensorVersioned {
        if let Raw::Versioned(raw) = self.0 {
            mem::forget(self);
            return raw.as_ptr();
        }
        let dl_tensor = *self.inner();
        manage(self, |manager_ctx| DLManagedTensorVersioned {
            version: VERSION,
            manager_ctx,
            deleter: Some(delete_versioned::<Self>),
            flags: 0,
            dl_tensor,
        })
    }

    /// Releases ownership as a pointer for a capsule `dltensor`, for consumers that know no other.
    ///
    /// # Errors
    /// Returns the tensor if it is read-only, because such a capsule has no flags.
    #[inline]
    pub fn into_unversioned(self) -> Result<*mut DLManagedTensor, Self> {
        if let Raw::Unversioned(raw) = self.0 {
            mem::forget(self);
            return Ok(raw.as_ptr());
        }
        if self.is_read_only() {
            return Err(self);
        }
        let dl_tensor = *self.inner();
        Ok(manage(self, |manager_ctx| DLManagedTensor {
            dl_tensor,
            manager_ctx,
            deleter: Some(delete_unversioned::<Self>),
        }))
    }

    pub(super) fn inner(&self) -> &DLTensor {
        match self.0 {
            // SAFETY: live until it is dropped, and never changed.
            Raw::Versioned(raw) => unsafe { &(*raw.as_ptr()).dl_tensor },
            // SAFETY: as above.
            Raw::Unversioned(raw) => unsafe { &(*raw.as_ptr()).dl_tensor },
        }
    }

    /// Location of the memory.
    #[inline]
    pub fn device(&self) -> DLDevice {
        self.inner().device
    }

    /// Type of the elements.
    #[inline]
    pub fn data_type(&self) -> DLDataType {
        self.inner().dtype
    }

    /// Length of each dimension; empty for a single element.
    #[inline]
    pub fn shape(&self) -> &[i64] {
        self.lengths(self.inner().shape).unwrap_or_default()
    }

    /// Stride of each dimension in elements; `None` for consecutive rows.
    #[inline]
    pub fn strides(&self) -> Option<&[i64]> {
        self.lengths(self.inner().strides)
    }

    fn lengths(&self, from: *mut i64) -> Option<&[i64]> {
        match usize::try_from(self.inner().ndim).unwrap_or(0) {
            0 => Some(&[]),
            // SAFETY: not null, so there is one number per dimension, as long as the tensor lives.
            len => (!from.is_null()).then(|| unsafe { std::slice::from_raw_parts(from, len) }),
        }
    }

    fn len_checked(&self) -> Option<usize> {
        let lengths = self.shape().iter().map(|&length| usize::try_from(length).ok());
        let mut product = 1usize;
        let mut is_empty = false;
        for length in lengths {
            match length? {
                0 => is_empty = true,
                length => product = product.checked_mul(length)?,
            }
        }
        Some(if is_empty { 0 } else { product })
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len_checked().unwrap_or(0)
    }

    /// True if there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Address of the first element, on the device or the host.
    #[inline]
    pub fn address(&self) -> u64 {
        self.pointer().expose_provenance() as u64
    }

    pub(super) fn pointer(&self) -> *mut c_void {
        let inner = self.inner();
        inner.data.wrapping_byte_add(usize::try_from(inner.byte_offset).unwrap_or(usize::MAX))
    }

    /// True if the memory must not be written. False for a tensor without flags.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        match self.0 {
            // SAFETY: as in `inner`.
            Raw::Versioned(raw) => unsafe { (*raw.as_ptr()).flags & READ_ONLY != 0 },
            Raw::Unversioned(_) => false,
        }
    }

    /// True if the elements are consecutive, with the last dimension fastest.
    pub(super) fn is_contiguous(&self) -> bool {
        let Some(strides) = self.strides() else { return true };
        let mut expected = 1i64;
        let dimensions = self.shape().iter().zip(strides).rev();
        self.is_empty()
            || dimensions.into_iter().all(|(&length, &stride)| {
                let fits = length == 1 || stride == expected;
                expected = expected.saturating_mul(length);
                fits
            })
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        match self.0 {
            Raw::Versioned(raw) => {
                // SAFETY: live, and owned by this value.
                let deleter = unsafe { (*raw.as_ptr()).deleter };
                if let Some(deleter) = deleter {
                    // SAFETY: called once, on its own tensor, by the last owner.
                    unsafe { deleter(raw.as_ptr()) };
                }
            }
            Raw::Unversioned(raw) => {
                // SAFETY: as above.
                let deleter = unsafe { (*raw.as_ptr()).deleter };
                if let Some(deleter) = deleter {
                    // SAFETY: as above.
                    unsafe { deleter(raw.as_ptr()) };
                }
            }
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("device", &self.device())
            .field("data_type", &self.data_type())
            .field("shape", &self.shape())
            .field("strides", &self.strides())
            .field("is_read_only", &self.is_read_only())
            .finish()
    }
}

/// Contents of a managed tensor of this crate, after the structure itself.
#[repr(C)]
struct Managed<M, O> {
    tensor: M,
    _owner: O,
}

/// Makes a managed tensor that owns `owner`.
pub(super) fn manage<M, O: Send>(owner: O, make: impl FnOnce(*mut c_void) -> M) -> *mut M {
    let managed = Box::new(Managed { tensor: make(ptr::null_mut()), _owner: owner });
    // The structure comes first.
    Box::into_raw(managed).cast()
}

/// Frees a tensor of [`manage`].
///
/// # Safety
/// The pointer comes from `manage` for the same types, and is not used again.
pub(super) unsafe extern "C" fn delete_versioned<O>(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: a box of this type, guaranteed by the caller.
    drop(unsafe { Box::from_raw(tensor.cast::<Managed<DLManagedTensorVersioned, O>>()) });
}

/// Same as [`delete_versioned`].
///
/// # Safety
/// Same as [`delete_versioned`].
unsafe extern "C" fn delete_unversioned<O>(tensor: *mut DLManagedTensor) {
    // SAFETY: a box of this type, guaranteed by the caller.
    drop(unsafe { Box::from_raw(tensor.cast::<Managed<DLManagedTensor, O>>()) });
}
