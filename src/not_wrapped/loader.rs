//! Functions that the crate below calls.

use super::{NotWrapped, groups};

groups! { Loader:
    "loading, versions and initialization: `Library` of cuprum-sys calls them":
        cuInit cuDriverGetVersion cuGetProcAddress cuGetProcAddress_v2;
}
