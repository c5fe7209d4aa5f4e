//! Texture objects.

use std::alloc::Layout;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use cuprum_sys::{
    CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUresult, CUtexObject, FnId, Fns, call,
};

use super::resource::Found;
use super::resource::TextureSource;
use super::{Resource, ResourceView, Sampler, TextureError};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::launch::{Argument, Parameter};
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};
use crate::raw::shared::Share;

/// A parameter that is a texture: `cudaTextureObject_t` in CUDA C.
///
/// Example: see the [module](super).
#[derive(Debug)]
pub struct TextureObject(PhantomData<()>);

impl Parameter for TextureObject {
    const LAYOUT: Layout = Layout::new::<CUtexObject>();
}

/// A texture by its handle, which is no pointer.
#[derive(Clone, Copy, Debug)]
struct Sampled(CUtexObject);

// SAFETY: the driver allows any thread to use and to destroy a texture object.
unsafe impl Handle for Sampled {
    const NAME: &'static str = "Texture";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that the object is live and not used again.
        unsafe { call!(fns, cuTexObjectDestroy(self.0)) }
    }
}

/// An array or memory, and how kernels read it. It borrows its resource for `'a`, or has a share of it.
///
/// Destroying it does not wait for kernels that read it: see the [module](super). Drop works on any thread, swallows
/// errors and does nothing in a forked child; [`close`](Texture::close) reports.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::PitchedBuffer;
/// use cuprum::texture::{AddressMode, ReadMode, Sampler, Texture};
///
/// let rows = PitchedBuffer::<u8>::from_slice(&cx, &[0; 12], (4, 3))?;
/// let address_modes = [AddressMode::CU_TR_ADDRESS_MODE_BORDER; 3];
/// let sampler = Sampler { read: ReadMode::NormalizedFloat, address_modes, ..Sampler::new() };
/// let texture = Texture::new(&cx, &rows, &sampler)?;
/// assert_eq!(texture.sampler(&cx)?, sampler);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Texture<'a> {
    /// Before the memory: a texture that is destroyed first no longer reads it.
    object: Held<'a, Sampled>,
    _memory: Option<Share<'a>>,
}

impl<'a> Texture<'a> {
    /// Creates a texture of an array or of memory.
    ///
    /// # Errors
    /// [`TextureError::Slices`]; [`Error::is_wrong_context`] in it; `CUDA_ERROR_INVALID_VALUE` for memory whose address
    /// or pitch is not aligned as the device attributes say, and for combinations that the driver does not take;
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

    /// Creates a texture of an array that is read as other elements, or of which only some layers or levels are read.
    ///
    /// # Errors
    /// Same as [`new`](Texture::new); `CUDA_ERROR_INVALID_VALUE` for elements of another size, and for layers or
    /// levels that the array lacks.
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
        // SAFETY: the descriptions and `raw` outlive the call; the memory under the texture is live and of the current
        // context.
        unsafe {
            context_call!(context, cuTexObjectCreate(&raw mut raw, resource, &raw const sampling, view))
        }?;
        Ok(Self { object: Held::new(Sampled(raw), found.context), _memory: found.share })
    }

    /// The driver's handle, a number.
    #[inline]
    pub const fn as_raw(&self) -> CUtexObject {
        self.object.raw().0
    }

    /// The context in which it was made.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.object.context()
    }

    /// Sampling of the texture, as the driver describes it.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; whatever the driver reports.
    ///
    /// Driver: `cuTexObjectGetTextureDesc`, CUDA 5.0+.
    #[doc(alias = "cuTexObjectGetTextureDesc")]
    #[inline]
    pub fn sampler(&self, cx: &Current<'_, '_>) -> Result<Sampler, Error> {
        let context = cx.of(self.context(), FnId::cuTexObjectGetTextureDesc)?;
        let mut described = CUDA_TEXTURE_DESC::zeroed();
        // SAFETY: the object is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuTexObjectGetTextureDesc(&raw mut described, self.as_raw())) }?;
        Ok(Sampler::read_back(&described))
    }

    /// Resource of the texture, as the driver describes it.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; whatever the driver reports.
    ///
    /// Driver: `cuTexObjectGetResourceDesc`, CUDA 5.0+.
    #[doc(alias = "cuTexObjectGetResourceDesc")]
    #[inline]
    pub fn resource(&self, cx: &Current<'_, '_>) -> Result<Resource, Error> {
        let context = cx.of(self.context(), FnId::cuTexObjectGetResourceDesc)?;
        let mut described = CUDA_RESOURCE_DESC::zeroed();
        // SAFETY: the object is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuTexObjectGetResourceDesc(&raw mut described, self.as_raw())) }?;
        Ok(Resource::read(&described))
    }

    /// View of the array, as the driver describes it; `None` without a view.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; whatever the driver reports.
    ///
    /// Driver: `cuTexObjectGetResourceViewDesc`, CUDA 5.0+.
    #[doc(alias = "cuTexObjectGetResourceViewDesc")]
    #[inline]
    pub fn view(&self, cx: &Current<'_, '_>) -> Result<Option<ResourceView>, Error> {
        let context = cx.of(self.context(), FnId::cuTexObjectGetResourceViewDesc)?;
        let mut described = CUDA_RESOURCE_VIEW_DESC::zeroed();
        // SAFETY: the object is live, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuTexObjectGetResourceViewDesc(&raw mut described, self.as_raw())) }?;
        Ok(ResourceView::read_back(&described))
    }

    /// Destroys the texture and reports the error that `Drop` would swallow. It is gone after an error too: the driver
    /// may have destroyed it all the same, so that it must not be destroyed again.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuTexObjectDestroy`, CUDA 5.0+.
    #[doc(alias = "cuTexObjectDestroy")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.object.close()
    }
}

// SAFETY: the number that a kernel reads for a texture.
unsafe impl Argument<TextureObject> for &Texture<'_> {
    type Raw = CUtexObject;

    fn into_raw(self) -> CUtexObject {
        self.as_raw()
    }
}

impl fmt::Debug for Texture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Texture({:#x})", self.as_raw())
    }
}
