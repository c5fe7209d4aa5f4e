//! Textures and surfaces that are lent to a scope, for kernels that are launched in it.

use cuprum_sys::{CUsurfObject, CUtexObject};

use super::{Surface, SurfaceObject, Texture, TextureObject};
use crate::launch::Argument;
use crate::memory::MemoryError;
use crate::raw::seal::{Key, Sealed};
use crate::stream::{Lend, Lent, Located, Scope};

macro_rules! objects {
    ($($object:ident as $parameter:ident, by $raw:ident;)*) => { $(
        impl Sealed for $object<'_> {}

        /// Neither the object nor its resource can be freed before the scope has waited.
        impl<'scope, 'a> Lend<'scope> for &'scope $object<'a> {
            type View = Self;

            fn lend(self, scope: &Scope<'scope, '_>, _: Key) -> Result<Self, MemoryError> {
                scope.accept(self.context())?;
                Ok(self)
            }
        }

        impl Located for &$object<'_> {
            type Address = $raw;

            #[inline]
            fn address(&self, _: Key) -> $raw {
                self.as_raw()
            }
        }

        // SAFETY: the number that a kernel reads for such an object.
        unsafe impl Argument<$parameter> for Lent<'_, &$object<'_>> {
            type Raw = $raw;

            fn into_raw(self) -> $raw {
                self.as_raw()
            }
        }

        // SAFETY: the number that a kernel reads for such an object.
        unsafe impl Argument<$parameter> for &Lent<'_, &$object<'_>> {
            type Raw = $raw;

            fn into_raw(self) -> $raw {
                self.as_raw()
            }
        }
    )* };
}

objects! {
    Texture as TextureObject, by CUtexObject;
    Surface as SurfaceObject, by CUsurfObject;
}
