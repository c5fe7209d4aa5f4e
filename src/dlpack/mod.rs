//! Tensors that are exchanged with other libraries without a copy: DLPack, both ways, and the CUDA array interface.
//!
//! A [`Tensor`] owns what DLPack calls a managed tensor: memory with its shape, and its producer's function that frees it.
//! Memory of this crate is [exported](Tensor::export) by moving it in, a tensor of another library is taken over by
//! [`from_versioned`](Tensor::from_versioned) or [`from_unversioned`](Tensor::from_unversioned), and either is given away by
//! [`into_versioned`](Tensor::into_versioned) or [`into_unversioned`](Tensor::into_unversioned), as the pointer that goes
//! into a Python capsule of the name [`abi::CAPSULE_VERSIONED`] or [`abi::CAPSULE`]. The feature `dlpack` makes this module,
//! and has no dependency.
//!
//! DLPack tells of no stream: work on the memory must be over, or ordered otherwise, before a tensor changes hands (in
//! Python the consumer passes its stream to `__dlpack__`). What is exported here is nobody else's, so that it is enough to
//! wait for the streams that used it.
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
//!     // What a consumer does.
//!     // SAFETY: the pointer is taken over once, and its memory is that of a buffer which nobody else has.
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
pub use self::import::{ImportError, ImportMismatch, ReadOnlyBuffer};
pub use self::tensor::{NotATensor, Tensor};
