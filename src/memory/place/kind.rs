//! Kinds of places. The kinds of both sides select the driver's copy function at compile time.

use super::super::{DeviceData, MemoryError, Pattern};
use crate::context::Current;
use crate::raw::seal::{Key, Sealed};

/// A kind of place, with the views that copies use. It has no lifetimes, so that a pair of kinds is
/// a bound that the compiler can prove.
pub trait Kind: Sealed {
    /// View of a source.
    type View<'a, T: DeviceData>;
    /// View of a destination.
    type ViewMut<'a, T: DeviceData>;
}

/// Kinds of places that `S` can be copied to.
#[diagnostic::on_unimplemented(
    message = "the driver does not copy from a place of the kind `{S}` to one of the kind `{Self}`",
    label = "these two do not go together",
    note = "one side at least is on the device; elements of linear memory become rows by `Pitched::over` and \
            `PitchedMut::over`"
)]
pub trait Accepts<S: Kind>: Kind {
    /// Copies on the default stream. On return, host memory may be reused or has the elements.
    fn copy<T: DeviceData>(
        cx: &Current<'_, '_>,
        to: Self::ViewMut<'_, T>,
        from: S::View<'_, T>,
        key: Key,
    ) -> Result<(), MemoryError>;
}

/// Kinds of places that the driver can fill.
#[diagnostic::on_unimplemented(
    message = "the driver does not fill places of the kind `{Self}`",
    label = "it fills linear memory and rows, of the device"
)]
pub trait Fillable: Kind {
    /// Fills each element with as many patterns as fit, on the default stream, without a wait.
    fn fill<T: DeviceData>(
        cx: &Current<'_, '_>,
        to: Self::ViewMut<'_, T>,
        pattern: Pattern,
        per_element: usize,
        key: Key,
    ) -> Result<(), MemoryError>;
}

macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident: $view:ty, $view_mut:ty;)*) => { $(
        $(#[$meta])*
        #[derive(Debug)]
        pub enum $kind {}

        impl $crate::raw::seal::Sealed for $kind {}

        impl $crate::memory::place::kind::Kind for $kind {
            type View<'a, T: DeviceData> = $view;
            type ViewMut<'a, T: DeviceData> = $view_mut;
        }
    )* };
}

pub(crate) use kinds;

kinds! {
    /// A host slice.
    Host: &'a [T], &'a mut [T];
}

/// A kind of place in another context.
#[derive(Debug)]
pub struct Elsewhere<K>(K);

impl<K: Kind> Sealed for Elsewhere<K> {}

impl<K: Kind> Kind for Elsewhere<K> {
    type View<'a, T: DeviceData> = K::View<'a, T>;
    type ViewMut<'a, T: DeviceData> = K::ViewMut<'a, T>;
}

/// Defines copies between pairs of kinds, with a token and both sides in scope.
macro_rules! pairs {
    ($($to:ident from $from:ty: |$cx:ident, $dst:ident, $src:ident| $body:block)+) => { $(
        #[diagnostic::do_not_recommend]
        impl $crate::memory::place::kind::Accepts<$from> for $to {
            #[inline]
            fn copy<T: DeviceData>(
                $cx: &Current<'_, '_>,
                $dst: <$to as $crate::memory::place::kind::Kind>::ViewMut<'_, T>,
                $src: <$from as $crate::memory::place::kind::Kind>::View<'_, T>,
                _: $crate::raw::seal::Key,
            ) -> Result<(), MemoryError> $body
        }
    )+ };
}

pub(crate) use pairs;
