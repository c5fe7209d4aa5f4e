//! The lines of the list of functions as text and types: a test hands the list to the macro here.

/// One line.
pub struct Line {
    pub name: &'static str,
    pub since: u32,
    /// The Rust name of each parameter's type.
    pub parameters: Vec<&'static str>,
    pub twin: &'static str,
}

/// Defines `lines`, which returns the lines.
#[macro_export]
macro_rules! list_of {
    ($(
        $(#[$doc:meta])*
        $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;
    )*) => {
        pub(crate) fn lines() -> Vec<$crate::lines::Line> {
            vec![$( $crate::lines::Line {
                name: stringify!($name),
                since: $since,
                parameters: vec![$( std::any::type_name::<$ty>() ),*],
                twin: stringify!($($twin)?),
            } ),*]
        }
    };
}
