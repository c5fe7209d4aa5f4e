//! Tensors as memory of cuprum.

use std::mem::ManuallyDrop;

use cuprum::context::PrimaryContext;
use cuprum::memory::ForeignBuffer;
use cuprum::{AnyError, Buffer, ContextRef, Current, Error, MemoryError};

use crate::abi::{CPU, CUDA, CUDA_HOST, CUDA_MANAGED, DLDataType, DLDevice};
use crate::element::Element;
use crate::read_only::ReadOnlyBuffer;
use crate::tensor::Tensor;

/// The reason why a tensor cannot be used in the requested way.
///
/// ```
/// use cuprum_dlpack::{ImportMismatch, Tensor};
///
/// let bytes = Tensor::export(vec![1u8, 2], &[2])?;
/// assert!(matches!(bytes.as_host_slice::<f32>(), Err(ImportMismatch::DataType { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportMismatch {
    /// The memory is on the host instead of a device or the reverse, or on another device.
    #[error("the memory is of {found:?} (1 is the host, 2 CUDA, 3 page-locked, 13 managed), not of {wanted}")]
    Device {
        /// Location of the memory.
        found: DLDevice,
        /// The requested location.
        wanted: String,
    },
    /// The memory belongs to a context that is not current.
    #[error(
        "the memory is of another context of the device: make the primary context current, which libraries share"
    )]
    OtherContext,
    /// The elements have a different type, or several lanes.
    #[error("the elements are of {found:?}, not of {wanted:?}")]
    DataType {
        /// The elements' type.
        found: DLDataType,
        /// The requested type.
        wanted: DLDataType,
    },
    /// The elements have a different type, in the notation of the CUDA array interface.
    #[error("the elements are of {found}, not of {wanted}")]
    TypeString {
        /// The elements' type.
        found: String,
        /// The requested type.
        wanted: &'static str,
    },
    /// The first element is not aligned for its type.
    #[error("the memory at {address:#x} is not a multiple of {alignment}")]
    Alignment {
        /// Address of the first element.
        address: u64,
        /// The required alignment in bytes.
        alignment: usize,
    },
    /// The elements are not consecutive, with the last dimension fastest.
    #[error(
        "the elements of shape {shape:?} with the strides {strides:?} are not contiguous (`Tensor::copy_to_buffer` \
         copies regular ones)"
    )]
    Strides {
        /// Length of each dimension.
        shape: Vec<i64>,
        /// Stride of each dimension.
        strides: Vec<i64>,
    },
    /// The tensor is read-only.
    #[error("the tensor must not be written, as its producer says")]
    ReadOnly,
    /// The number of elements exceeds the address space.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The driver's query of the memory's context failed.
    #[error(transparent)]
    Driver(#[from] Error),
}

/// Error of converting a tensor to a buffer, with the tensor.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum_dlpack::{ImportMismatch, Tensor};
///
/// let on_the_host = Tensor::export(vec![1.0f32, 2.0], &[2])?;
/// let Err(error) = on_the_host.into_buffer::<f32>(&cx) else { return Err("not on the device".into()) };
/// assert!(matches!(error.reason, ImportMismatch::Device { .. }));
/// assert_eq!(error.tensor.as_host_slice::<f32>()?, [1.0, 2.0]); // the error returns it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
#[expect(clippy::exhaustive_structs, reason = "an error with what it gives back")]
pub struct ImportError {
    /// The reason.
    pub reason: ImportMismatch,
    /// The tensor.
    pub tensor: Tensor,
}

impl From<ImportMismatch> for AnyError {
    fn from(error: ImportMismatch) -> Self {
        match error {
            ImportMismatch::Driver(error) => error.into(),
            ImportMismatch::Memory(error) => error.into(),
            other => Self::other(other),
        }
    }
}

impl From<ImportError> for AnyError {
    /// Drops the tensor.
    fn from(error: ImportError) -> Self {
        error.reason.into()
    }
}

impl Tensor {
    /// Converts memory of a CUDA device, or managed memory, to a buffer in the current context,
    /// which frees the tensor when it is dropped. Copies nothing.
    ///
    /// Work of other code on it must be complete, or ordered before work here. Work queued here is
    /// complete when the tensor is freed: dropping the buffer first frees a byte allocated here,
    /// which waits for the context and for copies that other contexts have queued. If that fails,
    /// the tensor is leaked.
    ///
    /// # Errors
    /// [`ImportError`], with the tensor, if it is not of `T`, not on the device of `cx`, of another
    /// context of the device, not aligned, not contiguous, or read-only; `CUDA_ERROR_OUT_OF_MEMORY`
    /// for the byte.
    ///
    /// Driver: `cuPointerGetAttributes`, CUDA 7.0+, and `cuMemAlloc_v2`, CUDA 3.2+; in a green
    /// context `cuDevicePrimaryCtxRetain`, CUDA 7.0+, and `cuDevicePrimaryCtxRelease_v2`,
    /// CUDA 11.0+.
    #[doc(alias = "cuPointerGetAttributes")]
    pub fn into_buffer<'ctx, T: Element>(
        self,
        cx: &Current<'_, 'ctx>,
    ) -> Result<ForeignBuffer<'ctx, T>, ImportError> {
        if self.is_read_only() {
            return Err(ImportError { reason: ImportMismatch::ReadOnly, tensor: self });
        }
        self.taken_over(cx)
    }

    /// Same as [`into_buffer`](Tensor::into_buffer), also for a read-only tensor, as a buffer that
    /// safe code cannot write.
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use std::sync::Arc;
    ///
    /// use cuprum_dlpack::{ReadOnlyBuffer, Tensor};
    /// use cuprum::context::PrimaryContext;
    /// use cuprum::Buffer;
    ///
    /// let context = PrimaryContext::retain(driver.device(0)?)?.share();
    /// context.enter(|cx| {
    ///     // This program still reads it, so consumers must not write it.
    ///     let ours = Arc::new(Buffer::from_slice(cx, &[1u32, 2, 3])?);
    ///     let tensor = Tensor::export(Arc::clone(&ours), &[3])?;
    ///     let theirs: ReadOnlyBuffer<'_, u32> = tensor.into_read_only_buffer(cx)?;
    ///     assert_eq!(theirs.as_slice().to_vec(cx)?, ours.to_vec(cx)?);
    ///     Ok(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`into_buffer`](Tensor::into_buffer).
    ///
    /// Driver: `cuPointerGetAttributes`, CUDA 7.0+, and `cuMemAlloc_v2`, CUDA 3.2+.
    #[doc(alias = "cuPointerGetAttributes")]
    pub fn into_read_only_buffer<'ctx, T: Element>(
        self,
        cx: &Current<'_, 'ctx>,
    ) -> Result<ReadOnlyBuffer<'ctx, T>, ImportError> {
        self.taken_over(cx).map(ReadOnlyBuffer)
    }

    fn taken_over<'ctx, T: Element>(
        self,
        cx: &Current<'_, 'ctx>,
    ) -> Result<ForeignBuffer<'ctx, T>, ImportError> {
        let anchor = match self.check_device::<T>(cx).and_then(|()| self.anchor(cx)) {
            Ok(anchor) => anchor,
            Err(reason) => return Err(ImportError { reason, tensor: self }),
        };
        let (address, len, tensor) = (self.address(), self.len(), self.again());
        let release = move |_: &ContextRef, _| {
            // Waits. If that fails, the memory may be in use, and the tensor is forgotten.
            anchor.map_or(Ok(()), Buffer::close)?;
            drop(ManuallyDrop::into_inner(tensor));
            Ok(())
        };
        // SAFETY: the tensor's constructor requires that the memory lives as long as the tensor,
        // without conflicting accesses; its context, type and strides were just checked. The
        // release waits before it frees the tensor.
        match unsafe { ForeignBuffer::with_release(cx, address, len, release) } {
            Ok(buffer) => {
                // The release frees it.
                std::mem::forget(self);
                Ok(buffer)
            }
            Err(error) => Err(ImportError { reason: error.into(), tensor: self }),
        }
    }

    /// A byte to free before the memory returns to its producer: freeing waits for the context,
    /// also during a capture, and for copies that other contexts have queued, for which no other
    /// wait of this context waits (measured on an H100).
    fn anchor<'ctx>(&self, cx: &Current<'_, 'ctx>) -> Result<Option<Buffer<'ctx, u8>>, ImportMismatch> {
        Ok(if self.is_empty() { None } else { Some(Buffer::alloc(cx, 1)?) })
    }

    fn check_device<T: Element>(&self, cx: &Current<'_, '_>) -> Result<(), ImportMismatch> {
        let (found, context) = (self.device(), cx.context());
        self.check_on_device(context)?;
        self.check_elements::<T>()?;
        if found.device_type == CUDA && !self.is_empty() {
            check_context(context, self.address())?;
        }
        Ok(())
    }

    /// Checks that the memory is on the device of a context, or managed.
    pub(super) fn check_on_device(&self, context: &ContextRef) -> Result<(), ImportMismatch> {
        let (found, device) = (self.device(), context.device().as_raw());
        let is_here = match found.device_type {
            CUDA => found.device_id == device,
            CUDA_MANAGED => true,
            _ => false,
        };
        if is_here {
            Ok(())
        } else {
            Err(ImportMismatch::Device { found, wanted: format!("CUDA device {device}") })
        }
    }

    /// Borrows the elements in host memory, page-locked or not, to read.
    ///
    /// # Errors
    /// [`ImportMismatch`], if they are not of `T`, not on the host, not aligned or not contiguous.
    pub fn as_host_slice<T: Element>(&self) -> Result<&[T], ImportMismatch> {
        self.check_host::<T>()?;
        match self.is_empty() {
            true => Ok(&[]),
            // SAFETY: aligned, contiguous elements of `T`, for which any bytes are valid; the
            // constructor requires that they live and that no code writes them.
            false => Ok(unsafe { std::slice::from_raw_parts(self.pointer().cast(), self.len()) }),
        }
    }

    /// Borrows the elements to write.
    ///
    /// # Errors
    /// Same as [`as_host_slice`](Tensor::as_host_slice); [`ImportMismatch::ReadOnly`].
    pub fn as_mut_host_slice<T: Element>(&mut self) -> Result<&mut [T], ImportMismatch> {
        if self.is_read_only() {
            return Err(ImportMismatch::ReadOnly);
        }
        self.check_host::<T>()?;
        match self.is_empty() {
            true => Ok(&mut []),
            // SAFETY: aligned, contiguous elements of `T` that are writable and borrowed mutably;
            // the constructor requires that they live and that no other code uses them.
            false => Ok(unsafe { std::slice::from_raw_parts_mut(self.pointer().cast(), self.len()) }),
        }
    }

    fn check_host<T: Element>(&self) -> Result<(), ImportMismatch> {
        let found = self.device();
        if !matches!(found.device_type, CPU | CUDA_HOST) {
            return Err(ImportMismatch::Device { found, wanted: "the host".to_owned() });
        }
        self.check_elements::<T>()
    }

    fn check_elements<T: Element>(&self) -> Result<(), ImportMismatch> {
        let (found, wanted) = (self.data_type(), T::TYPE);
        if found != wanted {
            return Err(ImportMismatch::DataType { found, wanted });
        }
        check_place::<T>(self.address(), self.len())?;
        if !self.is_contiguous() {
            let strides = self.strides().unwrap_or_default().to_vec();
            return Err(ImportMismatch::Strides { shape: self.shape().to_vec(), strides });
        }
        Ok(())
    }
}

/// Checks the alignment of an address, and that the elements fit in the address space.
pub(super) fn check_place<T>(address: u64, len: usize) -> Result<(), ImportMismatch> {
    let alignment = align_of::<T>();
    if len != 0 && (address == 0 || address % alignment as u64 != 0) {
        return Err(ImportMismatch::Alignment { address, alignment });
    }
    match len.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(MemoryError::TooLarge { len, element_bytes: size_of::<T>() }.into()),
    }
}

/// Checks that memory belongs to a context or, like memory of pools, to none. The driver reports
/// memory of green contexts as memory of the primary one.
pub(super) fn check_context(context: &ContextRef, address: u64) -> Result<(), ImportMismatch> {
    let device = context.device();
    let info = device.driver().pointer_info(address)?;
    if info.device.is_some_and(|found| found != device.as_raw()) || info.memory_type.is_none() {
        let found = DLDevice { device_type: CUDA, device_id: info.device.unwrap_or(-1) };
        return Err(ImportMismatch::Device { found, wanted: format!("CUDA device {}", device.as_raw()) });
    }
    if info.context.is_null() || info.context == context.as_raw() {
        return Ok(());
    }
    if context.is_green() && PrimaryContext::retain(device)?.as_raw() == info.context {
        return Ok(());
    }
    Err(ImportMismatch::OtherContext)
}
