//! The benchmarks are in the folder above. They are a package of their own, so that only those who
//! run them build `criterion`.
