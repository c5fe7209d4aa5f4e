//! Resources that are mapped together, and their views.

use super::registered::Registered;
use super::{MappedBuffer, MappedImage, RegisteredBuffer, RegisteredImage};

/// Resources that one call maps: a mutable borrow of a [`RegisteredBuffer`] or [`RegisteredImage`],
/// or tuples and arrays of these.
///
/// ```
/// # cuprum::example!(software driver, context, cx);
/// use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer, Resources};
/// use cuprum::{Current, Error, Stream};
///
/// /// Maps OpenGL's resources on the stream and unmaps them.
/// fn turn<R: Resources>(cx: &Current<'_, '_>, stream: &Stream<'_>, all: R) -> Result<(), Error> {
///     let mut mapped = graphics::map(cx, stream, all)?;
///     mapped.views();
///     mapped.unmap(cx)
/// }
///
/// # let gl = cuprum_emulator::opengl::StandIn::make_current();
/// # let name = gl.buffer(&[0; 16]);
/// // SAFETY: OpenGL neither deletes the buffer nor uses it while it is mapped, and stays current on this thread.
/// let mut vertices = unsafe { RegisteredBuffer::new(&cx, name, RegisterFlags::empty()) }?;
/// let stream = Stream::new(&cx)?;
/// turn(&cx, &stream, &mut vertices)?;
/// turn(&cx, &stream, [&mut vertices])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Resources: sealed::Sealed {
    /// The views that a guard lends: a [`MappedBuffer`] or [`MappedImage`] each, in the same shape.
    type Views<'m>
    where
        Self: 'm;

    #[doc(hidden)]
    fn views(&mut self) -> Self::Views<'_>;
}

pub(super) mod sealed {
    use std::fmt;

    /// A registered resource. It is `pub` only because a sealed trait uses it.
    pub struct Each<'a, 'ctx>(pub(in crate::graphics) &'a mut super::Registered<'ctx>);

    impl fmt::Debug for Each<'_, '_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "Each({:?})", self.0.raw())
        }
    }

    pub trait Sealed {
        fn each(&mut self, visit: &mut dyn FnMut(Each<'_, '_>));
    }
}

use sealed::{Each, Sealed};

macro_rules! resources {
    ($($registered:ident as $view:ident;)*) => { $(
        impl Sealed for &mut $registered<'_> {
            fn each(&mut self, visit: &mut dyn FnMut(Each<'_, '_>)) {
                visit(Each(&mut self.0));
            }
        }

        impl Resources for &mut $registered<'_> {
            type Views<'m>
                = $view<'m>
            where
                Self: 'm;

            fn views(&mut self) -> $view<'_> {
                $view::new(&self.0)
            }
        }
    )* };
}

resources! {
    RegisteredBuffer as MappedBuffer;
    RegisteredImage as MappedImage;
}

impl<R: Resources, const N: usize> Sealed for [R; N] {
    fn each(&mut self, visit: &mut dyn FnMut(Each<'_, '_>)) {
        for resource in self {
            resource.each(visit);
        }
    }
}

impl<R: Resources, const N: usize> Resources for [R; N] {
    type Views<'m>
        = [R::Views<'m>; N]
    where
        Self: 'm;

    fn views(&mut self) -> [R::Views<'_>; N] {
        self.each_mut().map(|resource| resource.views())
    }
}

macro_rules! tuples {
    ($($resource:ident $at:tt),+) => {
        impl<$($resource: Resources),+> Sealed for ($($resource,)+) {
            fn each(&mut self, visit: &mut dyn FnMut(Each<'_, '_>)) {
                $( self.$at.each(visit); )+
            }
        }

        impl<$($resource: Resources),+> Resources for ($($resource,)+) {
            type Views<'m>
                = ($($resource::Views<'m>,)+)
            where
                Self: 'm;

            fn views(&mut self) -> Self::Views<'_> {
                ($( self.$at.views(), )+)
            }
        }
    };
}

tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
