//! Textures and surfaces that are lent to a scope, for kernels that are launched in it.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUsurfObject, CUtexObject};

use super::{Surface, SurfaceObject, Texture, TextureObject};
use crate::error::Error;
use crate::launch::Argument;
use crate::raw::this_thread::ThisThread;
use crate::stream::Scope;

/// A texture lent to a scope: neither it nor its resource can go before the scope has waited. `Copy`.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::Stream;
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
/// use cuprum::texture::{Sampler, Texture};
///
/// let line = Array::from_slice(&cx, ArrayShape::OneD { width: 2 }, ArrayFlags::empty(), &[1.0f32, 2.0])?;
/// let (texture, stream) = (Texture::new(&cx, &line, &Sampler::new())?, Stream::new(&cx)?);
/// cx.scope(&stream, |scope| {
///     // An argument for kernels that are launched on this stream, until the scope ends.
///     let lent = scope.lend_texture(&texture)?;
///     assert_eq!(lent.as_raw(), texture.as_raw());
///     Ok::<(), cuprum::Error>(())
/// })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct LentTexture<'scope> {
    raw: CUtexObject,
    _texture: PhantomData<&'scope ()>,
    _this_thread: ThisThread,
}

/// A surface lent to a scope: neither it nor its array can go before the scope has waited. `Copy`.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::Stream;
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
/// use cuprum::texture::Surface;
///
/// let line = Array::<f32>::new(&cx, ArrayShape::OneD { width: 2 }, ArrayFlags::SURFACE)?;
/// let (surface, stream) = (Surface::new(&cx, &line)?, Stream::new(&cx)?);
/// cx.scope(&stream, |scope| {
///     let lent = scope.lend_surface(&surface)?;
///     assert_eq!(lent.as_raw(), surface.as_raw());
///     Ok::<(), cuprum::Error>(())
/// })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct LentSurface<'scope> {
    raw: CUsurfObject,
    _surface: PhantomData<&'scope ()>,
    _this_thread: ThisThread,
}

impl<'scope> Scope<'scope, '_> {
    /// Lends a texture to this scope, for kernels that are launched on its stream. It may be lent to other streams too.
    ///
    /// # Errors
    /// Those of [`lend`](Scope::lend).
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, on a non-blocking stream, otherwise none.
    #[doc(alias = "cuStreamSynchronize")]
    #[inline]
    pub fn lend_texture(&self, texture: &'scope Texture<'_>) -> Result<LentTexture<'scope>, Error> {
        self.take_in(texture.context())?;
        Ok(LentTexture { raw: texture.as_raw(), _texture: PhantomData, _this_thread: ThisThread::MARK })
    }

    /// Lends a surface to this scope, for kernels that are launched on its stream. It may be lent to other streams too.
    ///
    /// # Errors
    /// Those of [`lend`](Scope::lend).
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, on a non-blocking stream, otherwise none.
    #[doc(alias = "cuStreamSynchronize")]
    #[inline]
    pub fn lend_surface(&self, surface: &'scope Surface<'_>) -> Result<LentSurface<'scope>, Error> {
        self.take_in(surface.context())?;
        Ok(LentSurface { raw: surface.as_raw(), _surface: PhantomData, _this_thread: ThisThread::MARK })
    }
}

impl LentTexture<'_> {
    /// The driver's handle, a number.
    pub const fn as_raw(&self) -> CUtexObject {
        self.raw
    }
}

impl LentSurface<'_> {
    /// The driver's handle, a number.
    pub const fn as_raw(&self) -> CUsurfObject {
        self.raw
    }
}

// SAFETY: the number that a kernel reads for a texture.
unsafe impl Argument<TextureObject> for LentTexture<'_> {
    type Raw = CUtexObject;

    fn into_raw(self) -> CUtexObject {
        self.raw
    }
}

// SAFETY: the number that a kernel reads for a surface.
unsafe impl Argument<SurfaceObject> for LentSurface<'_> {
    type Raw = CUsurfObject;

    fn into_raw(self) -> CUsurfObject {
        self.raw
    }
}

impl fmt::Debug for LentTexture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LentTexture({:#x})", self.raw)
    }
}

impl fmt::Debug for LentSurface<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LentSurface({:#x})", self.raw)
    }
}
