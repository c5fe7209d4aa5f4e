//! The lines of `fns.rs` as text and types: a test file says `mod fns` with the crate's own `fns.rs` as its
//! path, and `mod table` with this file's macro, under which that file expands to a list.

/// One line of `fns.rs`.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) since: u32,
    /// The Rust name of each parameter's type.
    pub(crate) parameters: Vec<&'static str>,
    pub(crate) twin: &'static str,
}

/// Stands in for the crate's own macro of this name.
macro_rules! driver_fns {
    ($(
        $(#[$doc:meta])*
        $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;
    )*) => {
        pub(crate) fn lines() -> Vec<crate::lines::Line> {
            vec![$( crate::lines::Line {
                name: stringify!($name),
                since: $since,
                parameters: vec![$( std::any::type_name::<$ty>() ),*],
                twin: stringify!($($twin)?),
            } ),*]
        }
    };
}
pub(crate) use driver_fns;
