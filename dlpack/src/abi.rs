//! The structures of DLPack 1, in C layout.

use std::ffi::c_void;

/// Name of a Python capsule that holds a [`DLManagedTensor`].
pub const CAPSULE: &str = "dltensor";
/// Name of a Python capsule that holds a [`DLManagedTensorVersioned`].
pub const CAPSULE_VERSIONED: &str = "dltensor_versioned";

/// The memory of the host.
pub const CPU: i32 = 1;
/// The memory of a CUDA device.
pub const CUDA: i32 = 2;
/// Memory of the host that is page-locked for CUDA.
pub const CUDA_HOST: i32 = 3;
/// Managed memory.
pub const CUDA_MANAGED: i32 = 13;

/// The flag of a tensor that must not be written.
pub const READ_ONLY: u64 = 1;

/// The revision that this crate writes. It reads all revisions with the same `major`.
pub const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 0 };

/// A revision of the structures. The layout depends on `major`.
///
/// # Example
/// ```
/// use cuprum_dlpack::abi;
///
/// assert_eq!(abi::VERSION, abi::DLPackVersion { major: 1, minor: 0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[expect(clippy::exhaustive_structs, reason = "the layout of DLPack")]
pub struct DLPackVersion {
    /// Changes with the layout.
    pub major: u32,
    /// Changes with additions.
    pub minor: u32,
}

/// A kind of memory, and the number of a device.
///
/// ```
/// use cuprum_dlpack::Tensor;
/// use cuprum_dlpack::abi::{CPU, DLDevice};
///
/// let tensor = Tensor::export(vec![1.0f32, 2.0], &[2])?;
/// assert_eq!(tensor.device(), DLDevice { device_type: CPU, device_id: 0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[expect(clippy::exhaustive_structs, reason = "the layout of DLPack")]
pub struct DLDevice {
    /// [`CPU`], [`CUDA`], [`CUDA_HOST`], [`CUDA_MANAGED`], or another value of DLPack.
    pub device_type: i32,
    /// The device's number; 0 for host memory.
    pub device_id: i32,
}

/// The type of an element.
///
/// ```
/// use cuprum_dlpack::Tensor;
/// use cuprum_dlpack::abi::DLDataType;
///
/// let tensor = Tensor::export(vec![1.0f32, 2.0], &[2])?;
/// assert_eq!(tensor.data_type(), DLDataType { code: 2, bits: 32, lanes: 1 }); // a float
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[expect(clippy::exhaustive_structs, reason = "the layout of DLPack")]
pub struct DLDataType {
    /// 0: signed integers, 1: unsigned integers, 2: floats, 4: `bfloat16`, 5: complex numbers.
    pub code: u8,
    /// Bits per lane.
    pub bits: u8,
    /// Lanes per element; 1 for numbers.
    pub lanes: u16,
}

/// A tensor in memory of its producer.
///
/// ```
/// use cuprum_dlpack::Tensor;
///
/// let pointer = Tensor::export(vec![1.0f32, 2.0], &[2])?.into_versioned();
/// // SAFETY: the pointer is to a live tensor, and ownership is taken once.
/// let (tensor, _owner) = unsafe { ((*pointer).dl_tensor, Tensor::from_versioned(pointer)?) };
/// assert_eq!((tensor.ndim, tensor.byte_offset), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(clippy::exhaustive_structs, reason = "the layout of DLPack")]
pub struct DLTensor {
    /// Address of the memory.
    pub data: *mut c_void,
    /// Location of the memory.
    pub device: DLDevice,
    /// Number of dimensions.
    pub ndim: i32,
    /// Type of the elements.
    pub dtype: DLDataType,
    /// `ndim` lengths.
    pub shape: *mut i64,
    /// `ndim` strides in elements; null for consecutive rows.
    pub strides: *mut i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// A tensor with its producer's deleter, before DLPack 1.
///
/// # Example
/// ```
/// use cuprum_dlpack::Tensor;
/// use cuprum_dlpack::abi::DLManagedTensor;
///
/// let tensor = Tensor::export(vec![1.0f32, 2.0], &[2])?;
/// // For consumers without support for versions.
/// let pointer: *mut DLManagedTensor = tensor.into_unversioned().map_err(|_| "read-only")?;
/// // SAFETY: ownership is taken once, of the memory of a vector without other users.
/// let again = unsafe { Tensor::from_unversioned(pointer) }?;
/// assert_eq!(again.as_host_slice::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(clippy::exhaustive_structs, reason = "the layout of DLPack")]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// Data of the producer.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor and this structure.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// A tensor with its producer's deleter, a version and flags.
///
/// # Example
/// ```
/// use cuprum_dlpack::Tensor;
/// use cuprum_dlpack::abi::{DLManagedTensorVersioned, DLTensor};
///
/// let pointer: *mut DLManagedTensorVersioned = Tensor::export(vec![1.0f32, 2.0], &[2])?.into_versioned();
/// // SAFETY: the pointer is to a live tensor.
/// let tensor: DLTensor = unsafe { (*pointer).dl_tensor };
/// assert_eq!((tensor.ndim, tensor.dtype.bits), (1, 32));
/// // SAFETY: ownership is taken once.
/// drop(unsafe { Tensor::from_versioned(pointer) }?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(clippy::exhaustive_structs, reason = "the layout of DLPack")]
pub struct DLManagedTensorVersioned {
    /// The revision of the following fields.
    pub version: DLPackVersion,
    /// Data of the producer.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor and this structure.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// [`READ_ONLY`] and others.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}
