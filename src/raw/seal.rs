//! Types that seal the public traits of this crate.
//!
//! A trait that other crates cannot implement has [`Sealed`] as a supertrait, which they cannot
//! name. They could still call its hidden methods through a bound on the trait. So each of these
//! takes a [`Key`], which only this crate can make.

/// Supertrait of the traits that only this crate implements.
pub trait Sealed {}

/// Proof that a hidden method was called by this crate.
#[derive(Debug)]
pub struct Key(());

impl Key {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self(())
    }
}
