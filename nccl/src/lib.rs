#![doc = include_str!("../README.md")]

// The rooms, from the bottom to the top; each uses only those above it in this list.
//
// raw            functions, types and constants of C
// version unique_id config element   plain values
// error          errors
// library        finding and loading NCCL
// communicator   members of groups
// call group     collectives, checked and called, alone or together
// place          where they are queued, and the memory that they use
// reduction collectives registered   the work of a member
// watch          asynchronous errors, as a future
// members        processes that find each other, and notice when one ends

mod call;
mod collectives;
mod communicator;
mod config;
mod element;
mod error;
mod group;
mod library;
mod members;
mod owner;
mod place;
pub mod raw;
mod reduction;
mod registered;
mod unique_id;
mod version;
mod watch;

pub use crate::communicator::Communicator;
pub use crate::config::Config;
pub use crate::element::Element;
pub use crate::error::{CallError, MissingFunction, NcclError};
pub use crate::group::{Group, InGroup};
pub use crate::library::{NCCL_VARIABLE, Nccl, NcclLoadError};
pub use crate::members::{MemberError, Members, World};
pub use crate::place::{Elements, Executor, InCapture, InQueue, InScope, Read, Write};
pub use crate::reduction::{PremultipliedSum, Reduction};
pub use crate::registered::RegisteredBuffer;
pub use crate::unique_id::UniqueId;
pub use crate::version::NcclVersion;
pub use crate::watch::Watch;
