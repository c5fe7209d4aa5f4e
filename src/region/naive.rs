//! Rules that tests remove, to show that they fail without them.

/// True if the rule of this name is removed. Only in a build with `--cfg cuprum_naive`, for a name
/// in the variable `CUPRUM_NAIVE`: such a build is unsound on purpose.
#[cfg(cuprum_naive)]
pub(super) fn naive(rule: &str) -> bool {
    static RULE: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    RULE.get_or_init(|| std::env::var("CUPRUM_NAIVE").unwrap_or_default()) == rule
}

#[cfg(not(cuprum_naive))]
#[inline]
pub(super) const fn naive(_rule: &str) -> bool {
    false
}
