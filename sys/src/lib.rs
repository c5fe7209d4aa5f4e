//! The CUDA driver API, resolved at run time.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

#[allow(missing_docs)]
pub mod constants;
#[allow(missing_docs)]
pub mod enums;
#[allow(missing_docs)]
pub mod structs;
#[allow(missing_docs)]
pub mod types;

pub use constants::*;
pub use enums::*;
pub use structs::*;
pub use types::*;
