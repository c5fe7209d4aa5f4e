//! Memory of cuprum as managed tensors.

use std::ffi::c_void;
use std::sync::Arc;

use cuprum::{AnyError, Buffer, PinnedBuffer};

use crate::abi::{
    CPU, CUDA, CUDA_HOST, DLDataType, DLDevice, DLManagedTensorVersioned, DLTensor, READ_ONLY, VERSION,
};
use crate::element::Element;
use crate::tensor::{Tensor, delete_versioned, manage};

/// Memory that can be moved into a tensor: a [`Buffer`] or [`PinnedBuffer`] of a [shared
/// context](cuprum::Shared), a vector, or an [`Arc`] of one of these, which other code continues to
/// read, so consumers must not write it.
pub trait ExportOwner: Send + 'static {
    const TYPE: DLDataType;
    const READ_ONLY: bool;
    fn device(&self) -> DLDevice;
    /// Address and number of elements to read; `None` if the memory may not be accessed any more.
    fn shared(&self) -> Option<(*mut c_void, usize)>;

    fn memory(&mut self) -> Option<(*mut c_void, usize)> {
        self.shared()
    }
}

impl<T: Element> ExportOwner for Buffer<'static, T> {
    const TYPE: DLDataType = T::TYPE;
    const READ_ONLY: bool = false;

    fn device(&self) -> DLDevice {
        DLDevice { device_type: CUDA, device_id: self.context().device().as_raw() }
    }

    fn shared(&self) -> Option<(*mut c_void, usize)> {
        Some((std::ptr::with_exposed_provenance_mut(self.as_raw() as usize), self.len()))
    }
}

impl<T: Element> ExportOwner for PinnedBuffer<'static, T> {
    const TYPE: DLDataType = T::TYPE;
    const READ_ONLY: bool = false;

    fn device(&self) -> DLDevice {
        DLDevice { device_type: CUDA_HOST, device_id: 0 }
    }

    fn shared(&self) -> Option<(*mut c_void, usize)> {
        (!self.is_lost()).then(|| (self.as_raw().cast(), self.len()))
    }
}

impl<T: Element> ExportOwner for Vec<T> {
    const TYPE: DLDataType = T::TYPE;
    const READ_ONLY: bool = false;

    fn device(&self) -> DLDevice {
        DLDevice { device_type: CPU, device_id: 0 }
    }

    fn shared(&self) -> Option<(*mut c_void, usize)> {
        Some((self.as_ptr().cast_mut().cast(), self.len()))
    }

    fn memory(&mut self) -> Option<(*mut c_void, usize)> {
        Some((self.as_mut_ptr().cast(), self.len()))
    }
}

impl<O: ExportOwner + Sync> ExportOwner for Arc<O> {
    const TYPE: DLDataType = O::TYPE;
    const READ_ONLY: bool = true;

    fn device(&self) -> DLDevice {
        O::device(self)
    }

    fn shared(&self) -> Option<(*mut c_void, usize)> {
        O::shared(self)
    }
}

/// Error of an export, with the memory.
///
/// # Example
/// ```
/// use cuprum_dlpack::Tensor;
///
/// let Err(error) = Tensor::export(vec![1.0f32; 5], &[2, 3]) else { return Err("five are not six".into()) };
/// assert_eq!(error.to_string(), "5 elements cannot be a tensor of the shape [2, 3]");
/// assert_eq!(error.owner.len(), 5); // the error returns it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(thiserror::Error)]
#[error("{len} elements cannot be a tensor of the shape {shape:?}{}", if *.lost { ": they are lost" } else { "" })]
#[expect(clippy::exhaustive_structs, reason = "an error with what it gives back, and why")]
pub struct ExportError<O> {
    /// The memory.
    pub owner: O,
    /// Its number of elements.
    pub len: usize,
    /// The requested shape.
    pub shape: Vec<usize>,
    /// True if it is page-locked memory that is [lost](PinnedBuffer#when-it-is-lost).
    pub lost: bool,
}

impl<O> std::fmt::Debug for ExportError<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { owner: _, len, shape, lost } = self;
        f.debug_struct("ExportError")
            .field("len", len)
            .field("shape", shape)
            .field("lost", lost)
            .finish_non_exhaustive()
    }
}

impl<O> From<ExportError<O>> for AnyError {
    /// Drops the memory.
    fn from(ExportError { owner: _, len, shape, lost }: ExportError<O>) -> Self {
        Self::other(ExportError { owner: (), len, shape, lost })
    }
}

/// An owner with the shape and strides that its tensor points to.
struct Shaped<O> {
    _owner: O,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

impl Tensor {
    /// Moves memory into a managed tensor, with the last dimension fastest. No driver call.
    ///
    /// The last owner of the tensor frees the memory, on any thread, such as one of Python. Device
    /// memory belongs to the device of its context; page-locked memory is exported as page-locked.
    ///
    /// # Errors
    /// [`ExportError`], with the memory, if the shape has another number of elements, or it is
    /// lost.
    pub fn export<O: ExportOwner>(mut owner: O, shape: &[usize]) -> Result<Self, ExportError<O>> {
        let memory = owner.memory();
        let len = shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
        let lengths: Option<Vec<i64>> = shape.iter().map(|&length| i64::try_from(length).ok()).collect();
        let dimensions = i32::try_from(shape.len());
        let (Some((data, elements)), Some(lengths), Ok(ndim)) = (memory, lengths, dimensions) else {
            let len = memory.map_or(0, |(_, elements)| elements);
            return Err(ExportError { owner, len, shape: shape.to_vec(), lost: memory.is_none() });
        };
        if len != Some(elements) {
            return Err(ExportError { owner, len: elements, shape: shape.to_vec(), lost: false });
        }
        let device = owner.device();
        let mut shaped = Shaped { strides: strides(&lengths), shape: lengths, _owner: owner };
        let dl_tensor = DLTensor {
            data,
            device,
            ndim,
            dtype: O::TYPE,
            // A vector's elements stay at their address when it is moved.
            shape: shaped.shape.as_mut_ptr(),
            strides: shaped.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let tensor = manage(shaped, |manager_ctx| DLManagedTensorVersioned {
            version: VERSION,
            manager_ctx,
            deleter: Some(delete_versioned::<Shaped<O>>),
            flags: if O::READ_ONLY { READ_ONLY } else { 0 },
            dl_tensor,
        });
        // SAFETY: just made, of memory that its owner keeps, and that can be sent.
        Ok(unsafe { Self::made(tensor) })
    }
}

/// Strides in elements, with the last dimension fastest.
fn strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = shape[at].max(1).saturating_mul(strides[at]);
    }
    strides
}
