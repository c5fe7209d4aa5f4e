//! Tables whose functions pass through a hook, made of the list of functions.

use core::ffi::*;

use super::call::{Call, Hook};
use super::parameter::Parameter;
use super::value::Value;
use crate::enums::*;
use crate::fns::{FnId, Fns, PARAMETERS};
use crate::structs::*;
use crate::types::*;

/// Makes [`Fns::hooked`] of the list of functions.
macro_rules! hooked_table {
    ($(
        $(#[$doc:meta])*
        $since:literal fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $($twin:ident)?;
    )*) => {
        impl Fns {
            /// A table in which every function passes through a hook.
            #[must_use]
            pub const fn hooked<H: Hook>() -> Self {
                Self { $( $name: {
                    unsafe extern "system" fn hooked<H: Hook>($($arg: $ty),*) -> CUresult {
                        let values: &[&dyn Value] = &[$(&$arg),*];
                        let call = Call::new(FnId::$name, PARAMETERS[FnId::$name as usize], values);
                        H::call(&call, &mut || {
                            // SAFETY: the caller's arguments, passed on to the function of this
                            // signature.
                            unsafe { (H::target().$name)($($arg),*) }
                        })
                    }
                    hooked::<H>
                }, )* }
            }
        }
    };
}
for_each_function!(hooked_table);

impl FnId {
    /// The function's parameters, in order.
    #[must_use]
    pub fn parameters(self) -> &'static [Parameter] {
        PARAMETERS[self as usize]
    }
}
