//! Driver functions that no method of this crate calls, with reasons.
//!
//! [`Library::fns`](crate::Library::fns) can still call them, on the raw handles of this crate's
//! objects. A test compares the list with the calls in the sources, so that every function of the
//! table is either called or listed, and never both.
//!
//! ```
//! use cuprum::not_wrapped::{NOT_WRAPPED, Why};
//! use cuprum::sys::FnId;
//!
//! let group = NOT_WRAPPED.iter().find(|group| group.functions.contains(&FnId::cuTexRefCreate));
//! assert!(group.is_some_and(|group| group.why == Why::Deprecated));
//! ```

mod deprecated;
mod group;
mod loader;
mod out_of_scope;
mod superseded;
mod table;
mod unneeded;

use self::group::groups;
pub use self::group::{NotWrapped, Why};
pub use self::table::NOT_WRAPPED;
