//! Integer and floating-point arithmetic.

mod float;
mod half;
mod integer;
mod mode;
mod variant;
