#![doc = include_str!("../README.md")]
#![deny(clippy::exhaustive_enums, clippy::exhaustive_structs)]
//!
//! # Parts
//!
//! A [`Tensor`] owns a DLPack managed tensor: memory with its shape, and its producer's deleter. To
//! [export](Tensor::export) memory of cuprum, move it into a tensor. To import a tensor of
//! another library, use [`from_versioned`](Tensor::from_versioned) or
//! [`from_unversioned`](Tensor::from_unversioned). [`into_versioned`](Tensor::into_versioned) and
//! [`into_unversioned`](Tensor::into_unversioned) give either away, as the pointer for a Python
//! capsule with the name [`abi::CAPSULE_VERSIONED`] or [`abi::CAPSULE`]. An [`ArrayInterface`] has
//! the values of the CUDA array interface.
//!
//! # Order of operations
//!
//! DLPack does not record a stream: work on the memory must be complete, or ordered in another way,
//! before a tensor changes its owner (in Python the consumer passes its stream to `__dlpack__`).
//! Exported memory has no other owner, so it is enough to wait for the streams that
//! used it.

pub mod abi;
mod array_interface;
mod element;
mod export;
mod import;
mod read_only;
mod strided;
mod tensor;

pub use array_interface::ArrayInterface;
pub use element::Element;
pub use export::ExportError;
pub use import::{ImportError, ImportMismatch};
pub use read_only::ReadOnlyBuffer;
pub use tensor::{NotATensor, Tensor};
