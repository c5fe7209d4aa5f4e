//! Checks this machine for a CUDA driver's requirements, and explains errors that it causes.
//!
//! [`Machine::look`] reads files and variables of the system, and [`Image::read`] reads the output
//! of a compiler; no driver is loaded or called. The messages of [`Error`](crate::Error)s use them.
//! `cuprum doctor`, of the crate `cuprum-cli`, shows all of it and more.
//!
//! ```
//! use cuprum::diagnosis::Machine;
//! use cuprum::sys::CUresult;
//!
//! let machine = Machine::look();
//! if let Some(advice) = machine.advice(CUresult::CUDA_ERROR_NO_DEVICE) {
//!     println!("{advice}"); // for instance: "This machine has no NVIDIA GPU on its PCI bus: …"
//! }
//! ```

mod advice;
mod format;
mod image;
mod machine;
mod part;

pub(crate) use self::advice::advice_here;
pub use self::image::Image;
pub use self::machine::Machine;
pub use self::part::{CodeKind, CodePart, ImageError};
pub use cuprum_sys::{newest_ptx, toolkit_of_ptx};
