//! Code as a compiler makes it.

/// Output of any compiler, as a cache keeps it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) bytes: Vec<u8>,
    pub(super) log: String,
    pub(super) names: Vec<(String, String)>,
}
