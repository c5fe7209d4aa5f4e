//! The device runtime library, which lets kernels launch kernels: its functions in PTX, and the
//! answers of the driver to their calls.

mod archive;
mod calls;
mod errors;
mod requests;
mod text;

pub(super) use archive::{defines_runtime, is_device_runtime};
pub(super) use requests::{Request, Requests};
pub(super) use text::ptx_for;
