//! Arrays that their users keep.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;

use super::{Array, MipmappedArray, Stored, Texel};
use crate::raw::keep::Keep;

/// A handle of an array that is shared: by its clones, and by the textures and surfaces that are made of it.
///
/// The array is freed when the last of them is dropped. In a [`SharedContext`](crate::SharedContext) all of this is
/// `'static`. It dereferences to the [`Array`]; views from there borrow this handle.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::{PrimaryContext, SharedContext};
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape, SharedArray};
/// use cuprum::texture::{Sampler, Texture};
///
/// struct Picture {
///     texture: Texture<'static>,
///     array: SharedArray<'static, f32>,
///     context: SharedContext,
/// }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let picture = context.enter(|cx| -> Result<Picture, Box<dyn std::error::Error>> {
///     let shape = ArrayShape::TwoD { width: 4, height: 4 };
///     let array = Array::from_slice(cx, shape, ArrayFlags::empty(), &[1.0; 16])?.share();
///     let texture = Texture::new(cx, &array, &Sampler::new())?;
///     Ok(Picture { texture, array, context: context.clone() })
/// })??;
/// picture.context.enter(|cx| picture.array.copy_from_host(cx, &[2.0; 16]))??;
/// # let _texture = &picture.texture;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedArray<'ctx, T: Texel>(Keep<'ctx, Stored<'ctx>>, PhantomData<T>);

/// A handle of a mipmapped array that is shared, as [`SharedArray`] is.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::memory::{ArrayFlags, ArrayShape, MipmappedArray};
/// use cuprum::texture::{Sampler, Texture};
///
/// let shape = ArrayShape::TwoD { width: 8, height: 8 };
/// let levels = MipmappedArray::<f32>::new(&cx, shape, ArrayFlags::empty(), 4)?.share();
/// let texture = Texture::new(&cx, &levels, &Sampler::new().with_normalized_coordinates())?;
/// drop(levels); // the texture has a share
/// # drop(texture);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedMipmappedArray<'ctx, T: Texel>(Keep<'ctx, Stored<'ctx>>, PhantomData<T>);

/// Common methods of both kinds of handles.
macro_rules! shared {
    ($shared:ident of $array:ident) => {
        impl<'ctx, T: Texel> $shared<'ctx, T> {
            /// `stored` counts one share, and is that of such an array of `T`.
            pub(super) fn new(stored: Stored<'ctx>) -> Self {
                Self(Keep::first(Box::new(stored)), PhantomData)
            }

            pub(crate) fn keep(&self) -> Keep<'ctx, Stored<'ctx>> {
                self.0.clone()
            }
        }

        impl<T: Texel> Clone for $shared<'_, T> {
            fn clone(&self) -> Self {
                Self(self.0.clone(), PhantomData)
            }
        }

        impl<'ctx, T: Texel> Deref for $shared<'ctx, T> {
            type Target = $array<'ctx, T>;

            fn deref(&self) -> &$array<'ctx, T> {
                // SAFETY: the array is a transparent struct around what is stored, which was taken out of one of `T`.
                unsafe { &*ptr::from_ref::<Stored<'ctx>>(&self.0).cast() }
            }
        }

        impl<T: Texel> fmt::Debug for $shared<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($shared)).field(&**self).finish()
            }
        }
    };
}

shared!(SharedArray of Array);
shared!(SharedMipmappedArray of MipmappedArray);
