//! What closes the public traits of this crate.
//!
//! A trait that cannot be implemented outside has [`Sealed`] above it, which cannot be named there. Its hidden methods
//! could be called outside all the same, through a bound on the trait. So each of them takes a [`Key`], which this
//! crate alone can make.

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
