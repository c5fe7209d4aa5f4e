//! Programs that must not compile, `*.rs` beside this folder. A package of their own, so that `trybuild` is built by those
//! alone who run them.
