//! Every declaration of the crate, compared with recorded facts about NVIDIA's headers and with the
//! headers themselves.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod abi;
mod declared;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod dwarf;
mod layout;

// The included declarations look for these in the crate.
use cuprum_sys::{enums, types};
