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
mod loader;
mod out_of_scope;
mod superseded;
mod unneeded;

use cuprum_sys::FnId;

/// The kind of reason why functions have no method.
///
/// ```
/// use cuprum::not_wrapped::{NOT_WRAPPED, Why};
///
/// let deprecated = NOT_WRAPPED.iter().filter(|group| group.why == Why::Deprecated);
/// assert!(deprecated.map(|group| group.functions.len()).sum::<usize>() > 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Why {
    /// `cuprum-sys` calls them.
    Loader,
    /// The table has a newer revision of the same function.
    Superseded,
    /// NVIDIA has replaced them, and programs should not use them.
    Deprecated,
    /// Another method does their work.
    Unneeded,
    /// They are for purposes outside the scope of this crate.
    OutOfScope,
}

/// Functions without a method, for the same reason.
///
/// ```
/// for group in cuprum::not_wrapped::NOT_WRAPPED {
///     println!("{}: {:?}", group.reason, group.functions);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NotWrapped {
    /// The kind of reason.
    pub why: Why,
    /// The reason or the subject, in words.
    pub reason: &'static str,
    /// The functions, in the order of the table.
    pub functions: &'static [FnId],
}

/// Makes the groups of a file: the kind of reason, then for each group reason and functions.
macro_rules! groups {
    ($why:ident: $($reason:literal: $($function:ident)+;)*) => {
        pub(super) const GROUPS: &[NotWrapped] = &[$(
            NotWrapped {
                why: $crate::not_wrapped::Why::$why,
                reason: $reason,
                functions: &[$(cuprum_sys::FnId::$function),+],
            },
        )*];
    };
}
use groups;

const FILES: [&[NotWrapped]; 5] =
    [loader::GROUPS, superseded::GROUPS, deprecated::GROUPS, unneeded::GROUPS, out_of_scope::GROUPS];

/// Every function of the table that no method calls.
pub const NOT_WRAPPED: &[NotWrapped] = &joined::<{ count() }>();

const fn count() -> usize {
    let (mut count, mut file) = (0, 0);
    while file < FILES.len() {
        count += FILES[file].len();
        file += 1;
    }
    count
}

const fn joined<const COUNT: usize>() -> [NotWrapped; COUNT] {
    let mut all = [FILES[0][0]; COUNT];
    let (mut next, mut file) = (0, 0);
    while file < FILES.len() {
        let mut group = 0;
        while group < FILES[file].len() {
            all[next] = FILES[file][group];
            (next, group) = (next + 1, group + 1);
        }
        file += 1;
    }
    all
}
