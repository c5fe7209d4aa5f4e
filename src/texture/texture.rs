//! Texture objects.

use std::alloc::Layout;
use std::marker::PhantomData;
use std::ptr;

use cuprum_sys::{CUtexObject, FnId};

use super::resource::{Found, TextureSource};
use super::{ResourceView, Sampler, TextureError};
use crate::context::{Current, context_call};
use crate::launch::{Argument, Parameter};
use crate::raw::debug::debug;
use crate::raw::held::{Held, handle};
use crate::raw::owner::{as_raw, close, context};
use crate::raw::shared::Share;

/// A parameter that is a texture: `cudaTextureObject_t` in CUDA C.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::texture::TextureObject;
/// use cuprum::{InOut, Module};
///
/// let ptx = ".version 7.0\n.target sm_52\n.address_size 64\n.entry read(.param .u64 texture, .param .u64 out) { ret; }";
/// let module = Module::load_ptx(&cx, ptx)?;
/// let read = module.function("read")?.bind::<(TextureObject, InOut<f32>)>()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TextureObject(PhantomData<()>);

impl Parameter for TextureObject {
    const LAYOUT: Layout = Layout::new::<CUtexObject>();
}

/// The handle of a texture, which is not a pointer.
#[derive(Clone, Copy, Debug)]
struct Sampled(CUtexObject);

// SAFETY: the driver allows any thread to use and to destroy a texture object.
handle!(unsafe Sampled: "Texture", |raw| cuTexObjectDestroy(raw.0));

/// An object through which kernels read an array or memory. It borrows its resource for `'a`, or
/// has a share of it.
///
/// Destroying it does not wait for kernels that read it: see the [module](super).
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::PitchedBuffer;
/// use cuprum::texture::{AddressMode, Sampler, Texture};
///
/// let rows = PitchedBuffer::<u8>::from_slice(&cx, &[0; 12], (4, 3))?;
/// let address_modes = [AddressMode::CU_TR_ADDRESS_MODE_BORDER; 3];
/// let sampler = Sampler { normalized_floats: true, address_modes, ..Sampler::default() };
/// let texture = Texture::new(&cx, &rows, &sampler)?;
/// assert_eq!(texture.context().as_raw(), context.as_raw());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Texture<'a> {
    /// Destroyed before the memory, so that the texture no longer reads it.
    object: Held<'a, Sampled>,
    _memory: Option<Share<'a>>,
}

impl<'a> Texture<'a> {
    /// Creates a texture from an array or from memory.
    ///
    /// # Errors
    /// [`TextureError::Slices`]; [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT);
    /// `CUDA_ERROR_INVALID_VALUE` for memory whose address or pitch does not have the alignment of
    /// the device attributes, and for combinations that the driver does not support;
    /// `CUDA_ERROR_OUT_OF_MEMORY`; the sticky errors of earlier work.
    ///
    /// Driver: `cuTexObjectCreate`, CUDA 5.0+.
    #[doc(alias = "cuTexObjectCreate")]
    pub fn new(
        cx: &Current<'_, '_>,
        source: impl TextureSource<'a>,
        sampler: &Sampler,
    ) -> Result<Self, TextureError> {
        Self::create(cx, source.found()?, sampler, None)
    }

    /// Creates a texture from a view of an array: as other elements, or of some layers or levels.
    ///
    /// # Errors
    /// Same as [`new`](Texture::new); `CUDA_ERROR_INVALID_VALUE` for elements of another size, and
    /// for layers or levels that the array lacks.
    ///
    /// Driver: `cuTexObjectCreate`, CUDA 5.0+.
    #[doc(alias = "cuTexObjectCreate")]
    pub fn with_view(
        cx: &Current<'_, '_>,
        source: impl TextureSource<'a>,
        sampler: &Sampler,
        view: &ResourceView,
    ) -> Result<Self, TextureError> {
        Self::create(cx, source.found()?, sampler, Some(view))
    }

    fn create(
        cx: &Current<'_, '_>,
        found: Found<'a>,
        sampler: &Sampler,
        view: Option<&ResourceView>,
    ) -> Result<Self, TextureError> {
        let context = cx.of(&found.context, FnId::cuTexObjectCreate)?;
        let (resource, sampling) = (&raw const found.described, sampler.described());
        let view = view.map(|view| view.described(found.shape));
        let view = view.as_ref().map_or(ptr::null(), ptr::from_ref);
        let mut raw = 0;
        // SAFETY: the descriptions and `raw` outlive the call; the memory of the texture is live
        // and of the current context.
        unsafe {
            context_call!(context, cuTexObjectCreate(&raw mut raw, resource, &raw const sampling, view))
        }?;
        Ok(Self { object: Held::new(Sampled(raw), found.context), _memory: found.share })
    }

    as_raw!(CUtexObject, |this| this.object.raw().0);
    context!(|this| this.object.context());
    close!("Destroys the texture", "cuTexObjectDestroy", "5.0", |this| this.object.close());
}

// SAFETY: the number that kernels take as a texture.
unsafe impl Argument<TextureObject> for &Texture<'_> {
    type Raw = CUtexObject;

    fn into_raw(self) -> CUtexObject {
        self.as_raw()
    }
}

debug!(Texture<'_>: |this| "{:#x}", this.as_raw());
