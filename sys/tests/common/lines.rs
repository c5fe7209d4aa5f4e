//! The lines of the list of functions as text and types: a test file hands the list to the macro here.

/// One line.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) since: u32,
    /// The Rust name of each parameter's type.
    pub(crate) parameters: Vec<&'static str>,
    pub(crate) twin: &'static str,
}

/// Makes a list of the lines.
macro_rules! list_of {
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
pub(crate) use list_of;
