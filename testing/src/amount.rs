//! Amount of testing: tests with many variations run a sample by default, and all of them in
//! `.ci/run`.

/// True if `CUPRUM_TESTS` asks for all.
pub fn all() -> bool {
    std::env::var("CUPRUM_TESTS").is_ok_and(|amount| amount == "all" || amount == "pairs")
}
