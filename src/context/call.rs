//! Checked driver calls in a context.

/// Same as `driver_call`, for a call in or on a context: a sticky error poisons it.
macro_rules! context_call {
    ($context:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let context: &$crate::ContextRef = $context;
        match $crate::raw::call::driver_call!(context.library(), $name($($argument),*)) {
            Ok(()) => Ok(()),
            Err(error) => Err(context.record(error)),
        }
    }};
}

pub(crate) use context_call;
