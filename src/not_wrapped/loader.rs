//! Functions that `cuprum-sys` calls.

use super::{NotWrapped, groups};

groups! { Loader:
    "loading, versions and initialization: `Library` of cuprum-sys calls them":
        cuInit cuDriverGetVersion cuGetProcAddress cuGetProcAddress_v2;
}
