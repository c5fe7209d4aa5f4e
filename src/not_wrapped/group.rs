//! Groups of functions with one reason.

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

pub(super) use groups;
