//! Tensors exchanged with other libraries without a copy: DLPack, and the CUDA array interface.
//!
//! A [`Tensor`] owns a DLPack managed tensor: memory with its shape, and its producer's deleter. To
//! [export](Tensor::export) memory of this crate, move it into a tensor. To import a tensor of
//! another library, use [`from_versioned`](Tensor::from_versioned) or
//! [`from_unversioned`](Tensor::from_unversioned). [`into_versioned`](Tensor::into_versioned) and
//! [`into_unversioned`](Tensor::into_unversioned) give either away, as the pointer for a Python
//! capsule with the name [`abi::CAPSULE_VERSIONED`] or [`abi::CAPSULE`]. The feature `dlpack`
//! enables this module, and has no dependency.
//!
//! DLPack does not record a stream: work on the memory must be complete, or ordered in another way,
//! before a tensor changes its owner (in Python the consumer passes its stream to `__dlpack__`).
//! Exported memory of this crate has no other owner, so it is enough to wait for the streams that
//! used it.
//!
//! ```
//! # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
//! # let device = cuprum::Driver::init(library)?.device(0)?;
//! use cuprum::dlpack::Tensor;
//! use cuprum::context::PrimaryContext;
//! use cuprum::Buffer;
//!
//! let context = PrimaryContext::retain(device)?.share();
//! context.enter(|cx| {
//!     let buffer = Buffer::from_slice(cx, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//!     // A pointer for a capsule, which owns the buffer.
//!     let pointer = Tensor::export(buffer, &[2, 3])?.into_versioned();
//!
//!     // The consumer's side.
//!     // SAFETY: ownership is taken once, of the memory of a buffer without other users.
//!     let tensor = unsafe { Tensor::from_versioned(pointer) }?;
//!     assert_eq!(tensor.shape(), [2, 3]);
//!     let again = tensor.into_buffer::<f32>(cx)?;
//!     assert_eq!(again.as_slice().to_vec(cx)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//!     Ok(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abi;
mod array_interface;
mod element;
mod export;
mod import;
mod strided;
mod tensor;

pub use self::array_interface::ArrayInterface;
pub use self::element::Element;
pub use self::export::ExportError;
pub use self::import::{ImportError, ImportMismatch};
pub use self::tensor::{NotATensor, Tensor};
