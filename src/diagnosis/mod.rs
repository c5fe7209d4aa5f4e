//! What this machine has of what a driver needs, and what the errors that have their cause there mean here.
//!
//! [`Machine::look`] reads files and variables of the system, and [`Image::read`] what a compiler made; no driver is loaded or
//! called. The texts of
//! [`Error`](crate::Error)s use it; `cuprum doctor`, the binary of the feature `cli`, shows all of it and more.
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

pub(crate) use self::advice::advice_here;
pub use self::image::{CodeKind, CodePart, Image, ImageError};
pub use self::machine::Machine;
pub use cuprum_sys::{newest_ptx, toolkit_of_ptx};
