//! A managed tensor that is owned.

use std::ffi::c_void;
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ptr::{self, NonNull};

use super::abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor, READ_ONLY, VERSION,
};

/// A managed tensor: memory with a shape and its producer's function that frees it, which drop calls.
///
/// It may be sent to and dropped on any thread, as producers of either kind allow.
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

// SAFETY: the constructors demand that any thread may use and free it.
unsafe impl Send for Tensor {}
// SAFETY: through a shared reference it is only read.
unsafe impl Sync for Tensor {}

/// A pointer that is no managed tensor which can be read here. What it points to was not freed.
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
    #[error("a null pointer is no tensor")]
    Null,
    /// It is of a revision that is laid out otherwise.
    #[error("the tensor is of DLPack {major}, of which no more than the version is known: 1 is read here")]
    Version {
        /// Its major version.
        major: u32,
    },
    /// Its number of dimensions is negative, its shape is missing or has a negative length, or it has more elements than
    /// can be counted.
    #[error("the tensor's shape makes no sense")]
    Shape,
}

impl Tensor {
    /// Takes over a managed tensor, as a capsule `dltensor_versioned` holds it (which is to be renamed
    /// `used_dltensor_versioned`).
    ///
    /// # Errors
    /// [`NotATensor`]; the tensor is the caller's then. One of another major version may be freed by its own deleter.
    ///
    /// # Safety
    /// 1. The pointer is null, or is a live managed tensor as DLPack describes it, which the caller owns and gives up.
    /// 2. Any thread may read it and call its deleter.
    /// 3. From its address on, its memory has what its shape and strides span, as long as the deleter was not called. If it
    ///    is memory of a CUDA device, contexts can access it which the driver says it is of, or the device's primary one.
    /// 4. Meanwhile no other code accesses that memory in a way that conflicts with what is done through this value, and
    ///    what is made of it, unless a stream, an event or a wait puts it in order.
    #[inline]
    pub unsafe fn from_versioned(tensor: *mut DLManagedTensorVersioned) -> Result<Self, NotATensor> {
        let raw = NonNull::new(tensor).ok_or(NotATensor::Null)?;
        // SAFETY: live, by the caller's word; the version comes first in every revision.
        let major = unsafe { (*tensor).version.major };
        if major != VERSION.major {
            return Err(NotATensor::Version { major });
        }
        Self::checked(Raw::Versioned(raw))
    }

    /// Like [`from_versioned`](Tensor::from_versioned), of a capsule `dltensor`, which knows neither version nor flags.
    ///
    /// # Errors
    /// Same as [`from_versioned`](Tensor::from_versioned).
    ///
    /// # Safety
    /// As for [`from_versioned`](Tensor::from_versioned); that the memory may be written, if it will be.
    #[inline]
    pub unsafe fn from_unversioned(tensor: *mut DLManagedTensor) -> Result<Self, NotATensor> {
        Self::checked(Raw::Unversioned(NonNull::new(tensor).ok_or(NotATensor::Null)?))
    }

    /// What this crate has just made.
    ///
    /// # Safety
    /// It is not null, and as for [`from_versioned`](Tensor::from_versioned).
    pub(super) unsafe fn made(tensor: *mut DLManagedTensorVersioned) -> Self {
        // SAFETY: guaranteed by the caller.
        Self(Raw::Versioned(unsafe { NonNull::new_unchecked(tensor) }))
    }

    fn checked(raw: Raw) -> Result<Self, NotATensor> {
        // Not to be freed if it is refused.
        let tensor = ManuallyDrop::new(Self(raw));
        let inner = tensor.inner();
        let has_shape = inner.ndim == 0 || (inner.ndim > 0 && !inner.shape.is_null());
        let lengths_are_fine = has_shape && tensor.shape().iter().all(|&length| length >= 0);
        if !lengths_are_fine || tensor.len_checked().is_none() {
            return Err(NotATensor::Shape);
        }
        Ok(ManuallyDrop::into_inner(tensor))
    }

    /// Gives the tensor away as a pointer for a capsule `dltensor_versioned`. Whoever has it last calls its deleter.
    ///
    /// One that came without a version is wrapped, as one that may be written.
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

    /// Gives the tensor away as a pointer for a capsule `dltensor`, for consumers that know no other.
    ///
    /// # Errors
    /// The tensor, if it must not be written: such a capsule cannot say so.
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
            // SAFETY: live until it is dropped, and changed by nobody.
            Raw::Versioned(raw) => unsafe { &(*raw.as_ptr()).dl_tensor },
            // SAFETY: as above.
            Raw::Unversioned(raw) => unsafe { &(*raw.as_ptr()).dl_tensor },
        }
    }

    /// Where the memory lies.
    #[inline]
    pub fn device(&self) -> DLDevice {
        self.inner().device
    }

    /// Type of the elements.
    #[inline]
    pub fn data_type(&self) -> DLDataType {
        self.inner().dtype
    }

    /// Length of each dimension; none of a single element.
    #[inline]
    pub fn shape(&self) -> &[i64] {
        self.lengths(self.inner().shape).unwrap_or_default()
    }

    /// Distance of neighbors along each dimension, in elements; `None` if rows lie one behind the other.
    #[inline]
    pub fn strides(&self) -> Option<&[i64]> {
        self.lengths(self.inner().strides)
    }

    fn lengths(&self, from: *mut i64) -> Option<&[i64]> {
        match usize::try_from(self.inner().ndim).unwrap_or(0) {
            0 => Some(&[]),
            // SAFETY: not null, and so as many numbers as there are dimensions, for as long as the tensor.
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

    /// The same as a pointer of the host.
    pub(super) fn pointer(&self) -> *mut c_void {
        let inner = self.inner();
        inner.data.wrapping_byte_add(usize::try_from(inner.byte_offset).unwrap_or(usize::MAX))
    }

    /// True if the memory must not be written. Of a tensor without flags nobody says so.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        match self.0 {
            // SAFETY: as in `inner`.
            Raw::Versioned(raw) => unsafe { (*raw.as_ptr()).flags & READ_ONLY != 0 },
            Raw::Unversioned(_) => false,
        }
    }

    /// True if the elements lie one behind the other, the last dimension fastest.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
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
                    // SAFETY: called once, on what it is for, by its last owner.
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

/// What a managed tensor of this crate keeps until its deleter is called, behind the structure itself.
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

/// Frees what [`manage`] made.
///
/// # Safety
/// The pointer is one that `manage` gave for the same types, and is not used again.
pub(super) unsafe extern "C" fn delete_versioned<O>(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: by the caller's word a box of this type.
    drop(unsafe { Box::from_raw(tensor.cast::<Managed<DLManagedTensorVersioned, O>>()) });
}

/// Like [`delete_versioned`].
///
/// # Safety
/// As for [`delete_versioned`].
unsafe extern "C" fn delete_unversioned<O>(tensor: *mut DLManagedTensor) {
    // SAFETY: by the caller's word a box of this type.
    drop(unsafe { Box::from_raw(tensor.cast::<Managed<DLManagedTensor, O>>()) });
}
