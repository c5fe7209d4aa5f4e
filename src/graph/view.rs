//! Memory of a graph between its launches.

use super::error::GraphError;
use super::kept::Kept;
use super::loan::sealed::Memory;
use super::loan::{Loan, Place};
use crate::context::ContextRef;
use crate::launch::{In, InOut};
use crate::memory::{DeviceData, Pitched, PitchedMut, Slice, SliceMut};
use crate::raw::keep::Near;

/// Memory that can be read between launches.
pub trait View: Memory {
    /// Shared view of the memory.
    type View<'s>;
    fn view<'s>(
        loan: Loan<Self>,
        kept: &'s Kept<'_>,
        home: Near<'s, ContextRef>,
    ) -> Result<Self::View<'s>, GraphError>;
}

/// Memory that can be written between launches.
pub trait ViewMut: View {
    /// Mutable view of the memory.
    type ViewMut<'s>;
    fn view_mut<'s>(
        loan: Loan<Self>,
        kept: &'s mut Kept<'_>,
        home: Near<'s, ContextRef>,
    ) -> Result<Self::ViewMut<'s>, GraphError>;
}

/// Checks that device memory belongs to the graph and exists between launches.
fn check(kept: &Kept<'_>, place: Place) -> Result<(), GraphError> {
    kept.check(place)?;
    if place.at.is_some() { Ok(()) } else { Err(GraphError::Inside) }
}

/// Shared and mutable views of device memory.
macro_rules! views {
    ($($memory:ty: $view:ident($($field:expr),+) $(, $view_mut:ident($($field_mut:expr),+))? of $loan:ident;)*) => { $(
        impl<T: DeviceData> View for $memory {
            type View<'s> = $view<'s, T>;

            fn view<'s>(
                $loan: Loan<Self>,
                kept: &'s Kept<'_>,
                home: Near<'s, ContextRef>,
            ) -> Result<$view<'s, T>, GraphError> {
                check(kept, $loan.place)?;
                Ok($view::new($($field),+, home))
            }
        }

        $(
            impl<T: DeviceData> ViewMut for $memory {
                type ViewMut<'s> = $view_mut<'s, T>;

                fn view_mut<'s>(
                    $loan: Loan<Self>,
                    kept: &'s mut Kept<'_>,
                    home: Near<'s, ContextRef>,
                ) -> Result<$view_mut<'s, T>, GraphError> {
                    check(kept, $loan.place)?;
                    Ok($view_mut::new($($field_mut),+, home))
                }
            }
        )?
    )* };
}

views! {
    In<T>: Slice(loan.address, loan.len()) of loan;
    InOut<T>: Slice(loan.address, loan.len()), SliceMut(loan.address, loan.len()) of loan;
    Pitched<'static, T>: Pitched(loan.address, loan.strides, loan.aligned) of loan;
    PitchedMut<'static, T>: Pitched(loan.address, loan.strides, loan.aligned),
        PitchedMut(loan.address, loan.strides, loan.aligned) of loan;
}

impl<T: DeviceData> View for [T] {
    type View<'s> = &'s [T];

    fn view<'s>(
        loan: Loan<Self>,
        kept: &'s Kept<'_>,
        _: Near<'s, ContextRef>,
    ) -> Result<&'s [T], GraphError> {
        let start = kept.start(loan)?;
        // SAFETY: initialized elements of that number and type, because the token was made with
        // this entry or is a part of it. The graph owns them, and does not run while it is
        // borrowed.
        Ok(unsafe { std::slice::from_raw_parts(start, loan.len()) })
    }
}

impl<T: DeviceData> ViewMut for [T] {
    type ViewMut<'s> = &'s mut [T];

    fn view_mut<'s>(
        loan: Loan<Self>,
        kept: &'s mut Kept<'_>,
        _: Near<'s, ContextRef>,
    ) -> Result<&'s mut [T], GraphError> {
        let start = kept.start(loan)?;
        // SAFETY: as in `view`, of a graph that is borrowed mutably.
        Ok(unsafe { std::slice::from_raw_parts_mut(start, loan.len()) })
    }
}
