//! Surface objects.

use std::alloc::Layout;
use std::marker::PhantomData;

use cuprum_sys::{CUsurfObject, FnId};

use super::TextureError;
use super::resource::SurfaceSource;
use crate::context::{Current, context_call};
use crate::launch::{Argument, Parameter};
use crate::memory::ArrayFlags;
use crate::raw::debug::debug;
use crate::raw::held::{Held, handle};
use crate::raw::owner::{as_raw, close, context};
use crate::raw::shared::Share;

/// A parameter that is a surface: `cudaSurfaceObject_t` in CUDA C.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
/// use cuprum::texture::{Surface, SurfaceObject};
/// use cuprum::{LaunchConfig, Module, Stream};
///
/// let shape = ArrayShape::OneD { width: 4 };
/// let line = Array::<u32>::new(&cx, shape, ArrayFlags::SURFACE)?;
/// let surface = Surface::new(&cx, &line)?;
///
/// // Writes 7 to the second element.
/// let module = Module::load_ptx(&cx, "
///     .version 7.0
///     .target sm_52
///     .address_size 64
///     .entry write(.param .u64 surface) {
///         .reg .b32 %r<3>; .reg .b64 %rd<2>;
///         ld.param.u64 %rd1, [surface];
///         mov.u32 %r1, 4;
///         mov.u32 %r2, 7;
///         sust.b.1d.b32.trap [%rd1, {%r1}], {%r2};
///         ret;
///     }")?;
/// let write = module.function("write")?.bind::<(SurfaceObject,)>()?;
/// let stream = Stream::new(&cx)?;
/// // SAFETY: the kernel writes one element; the wait below is for it.
/// unsafe { write.launch(&cx, &stream, LaunchConfig::new(1, 1), (&surface,)) }?;
/// stream.synchronize(&cx)?;
/// assert_eq!(line.to_vec(&cx)?[1], 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SurfaceObject(PhantomData<()>);

impl Parameter for SurfaceObject {
    const LAYOUT: Layout = Layout::new::<CUsurfObject>();
}

/// The handle of a surface, which is not a pointer.
#[derive(Clone, Copy, Debug)]
struct Written(CUsurfObject);

// SAFETY: the driver allows any thread to use and to destroy a surface object.
handle!(unsafe Written: "Surface", |raw| cuSurfObjectDestroy(raw.0));

/// An object through which kernels read and write the elements of an array. It borrows the array
/// for `'a`, or has a share of it.
///
/// Destroying it does not wait for kernels that use it: see the [module](super).
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Array, ArrayFlags, ArrayShape};
/// use cuprum::texture::Surface;
///
/// let shape = ArrayShape::TwoD { width: 4, height: 4 };
/// let picture = Array::<f32>::new(&cx, shape, ArrayFlags::SURFACE)?;
/// let surface = Surface::new(&cx, &picture)?;
/// assert_eq!(surface.context().as_raw(), context.as_raw());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Surface<'a> {
    /// Destroyed before the memory, so that the surface no longer writes it.
    object: Held<'a, Written>,
    _memory: Option<Share<'a>>,
}

impl<'a> Surface<'a> {
    /// Creates a surface from an array, or from a level of a mipmapped array.
    ///
    /// # Errors
    /// [`TextureError::NoSurfaces`] unless the array has [`ArrayFlags::SURFACE`];
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT); `CUDA_ERROR_OUT_OF_MEMORY`; the
    /// sticky errors of earlier work.
    ///
    /// Driver: `cuSurfObjectCreate`, CUDA 5.0+.
    #[doc(alias = "cuSurfObjectCreate")]
    pub fn new(cx: &Current<'_, '_>, source: impl SurfaceSource<'a>) -> Result<Self, TextureError> {
        let found = source.found()?;
        if !found.flags.contains(ArrayFlags::SURFACE) {
            return Err(TextureError::NoSurfaces);
        }
        let context = cx.of(&found.context, FnId::cuSurfObjectCreate)?;
        let (mut raw, resource) = (0, &raw const found.described);
        // SAFETY: the description and `raw` outlive the call; the array is live and of the current
        // context.
        unsafe { context_call!(context, cuSurfObjectCreate(&raw mut raw, resource)) }?;
        Ok(Self { object: Held::new(Written(raw), found.context), _memory: found.share })
    }

    as_raw!(CUsurfObject, |this| this.object.raw().0);
    context!(|this| this.object.context());
    close!("Destroys the surface", "cuSurfObjectDestroy", "5.0", |this| this.object.close());
}

// SAFETY: the number that kernels take as a surface.
unsafe impl Argument<SurfaceObject> for &Surface<'_> {
    type Raw = CUsurfObject;

    fn into_raw(self) -> CUsurfObject {
        self.as_raw()
    }
}

debug!(Surface<'_>: |this| "{:#x}", this.as_raw());
