//! Integer and floating-point arithmetic.

mod float;
mod half;
mod integer;
mod variant;

pub(super) use self::variant::FloatMode;

use self::variant::{Extremum, Found, Kept};
