//! What the tests of this crate are linked with.
