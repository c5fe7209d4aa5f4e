//! Tables whose functions pass through your code: for a trace, a count, or a test that makes calls
//! fail.
//!
//! A [`Hook`] receives each call before it reaches the driver. [`Fns::hooked`](crate::Fns::hooked)
//! is a table of hooked functions, made from the same list as the table itself, and
//! [`Library::hooked`](crate::Library::hooked) is a driver with these functions. Other drivers are
//! not affected: no call checks for a hook.
//!
//! ```
//! use cuprum_sys::hook::{Call, Hook};
//! use cuprum_sys::{CUresult, FnId, Fns, call};
//!
//! struct Refusing;
//!
//! impl Hook for Refusing {
//!     fn target() -> &'static Fns {
//!         const { &Fns::STUBS }
//!     }
//!
//!     fn call(call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
//!         match call.function() {
//!             FnId::cuMemAlloc_v2 if call.arguments().any(|argument| argument.word() == 4096) => {
//!                 CUresult::CUDA_ERROR_OUT_OF_MEMORY
//!             }
//!             _ => pass_on(),
//!         }
//!     }
//! }
//!
//! static HOOKED: Fns = Fns::hooked::<Refusing>();
//! let mut address = 0;
//! // SAFETY: the hooked functions are stubs, which touch nothing.
//! let (result, _) = unsafe { call!(HOOKED, cuMemAlloc_v2(&mut address, 4096)) };
//! assert_eq!(result, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
//! ```

mod call;
mod given;
mod hooked;
mod parameter;
mod value;

pub use self::call::{Argument, Call, Hook};
pub use self::parameter::Parameter;
pub(crate) use self::parameter::{parameter_table, text};
