//! Other ways to run the kernels, and the kernels that all of them run.
//!
//! `fetch.sh` downloads PoCL and Numba into `.cache/beside/`. Without it their columns say so.

pub(crate) mod clock;
pub(crate) mod contest;
pub(crate) mod corpus;
pub(crate) mod count;
pub(crate) mod emulator;
pub(crate) mod entries;
pub(crate) mod machine;
pub(crate) mod native;
pub(crate) mod opencl;
pub(crate) mod regular;
pub(crate) mod simulator;

use std::path::PathBuf;

/// Reason why a way to run cannot be measured here.
#[derive(Clone)]
pub(crate) enum Absent {
    NotFetched,
    Broken(String),
}

/// Returns the folder of something that `fetch.sh` has downloaded.
fn fetched(what: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.cache/beside").join(what);
    folder.canonicalize().ok()
}
