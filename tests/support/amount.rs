//! How much is tried by tests that try the same in many ways: a sample by themselves, all of it by `.ci/run`.

/// True if `CUPRUM_TESTS` asks for all.
pub(crate) fn all() -> bool {
    std::env::var("CUPRUM_TESTS").is_ok_and(|amount| amount == "all")
}
