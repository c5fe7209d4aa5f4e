//! Programs that must not compile: the `*.rs` in the folder above. They are a package of their own,
//! so that only those who run them build `trybuild`.

mod right;
