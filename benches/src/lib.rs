//! Benchmarks beside this folder. A package of their own, so that `criterion` is built by those alone who run them.
