//! OpenGL's buffers and images, used by CUDA in place.
//!
//! A [`RegisteredBuffer`] is a buffer object of OpenGL and a [`RegisteredImage`] a texture or renderbuffer, registered with
//! a CUDA context. Mapping them takes them from OpenGL, for the time of a guard, [`Mapped`], which gives a buffer as
//! [slices](crate::memory::Slice) and an image as [arrays](crate::memory::ArrayView). Several are mapped in one call by [`map`].
//!
//! ```
//! # let driver = cuprum::Driver::init(cuprum_emulator::library())?;
//! # let context = cuprum::context::PrimaryContext::retain(driver.device(0)?)?;
//! # let mut stack = cuprum::context::ContextStack::take()?;
//! # let cx = stack.push(&context)?;
//! use cuprum::Stream;
//! use cuprum::graphics::{RegisterFlags, RegisteredBuffer};
//!
//! // A context of OpenGL is current on this thread, and `glGenBuffers` gave the name.
//! # let gl = cuprum_emulator::opengl::StandIn::make_current();
//! # let name = gl.buffer(&[0; 16]);
//! let stream = Stream::new(&cx)?;
//! // SAFETY: OpenGL neither deletes the buffer nor uses it while it is mapped, and stays current on this thread.
//! let mut vertices = unsafe { RegisteredBuffer::new(&cx, name, RegisterFlags::empty()) }?;
//!
//! let mut mapped = vertices.map(&cx, &stream)?;
//! let mut view = mapped.views();
//! cx.fill(&mut view.as_mut_slice::<f32>(&cx)?, 0.5)?;
//! mapped.unmap(&cx)?;
//! // From here on, OpenGL draws with it again.
//! # assert_eq!(gl.read_buffer(name).ok_or("gone")?[..4], 0.5f32.to_ne_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the types see to, and what they cannot
//!
//! | order | kept by |
//! |---|---|
//! | unregister before the CUDA context ends | the owner borrows or shares its context |
//! | unmap before it is mapped again, unregistered, or given other flags | the guard borrows the owner mutably |
//! | no use of an address or array after unmapping | slices and arrays borrow the guard; what was queued through them is done before: on the stream, on the default stream, and in scopes, which wait. Kernels on other streams are a duty of [those who launch them](crate::launch#duties-of-a-launch) |
//! | the stream outlives the guard, which unmaps on it | the guard borrows the stream |
//! | registered, mapped and unregistered on one thread, on which a context of OpenGL is current | owners and guards are neither `Send` nor `Sync`; that the context stays current is a duty of whoever registers |
//! | OpenGL's object lives on, and is not used while it is mapped | a duty of whoever registers |
//!
//! A guard that is forgotten, or whose unmapping fails, leaves its resources mapped. They are unmapped when they are mapped
//! again, and before their owner unregisters them.
//!
//! Where no context of OpenGL is current, nothing is mapped, unmapped or unregistered: that is
//! `CUDA_ERROR_INVALID_GRAPHICS_CONTEXT`. So an owner that is dropped when its context of OpenGL is gone leaves the driver a
//! resource, which goes with the CUDA context (on an H100 with driver 580, mapped or not).
//!
//! To move a context of OpenGL to another thread with what is registered from it, move the owner in a type of your own
//! whose `unsafe impl Send` says why that is right.
//!
//! # Order with OpenGL
//!
//! OpenGL commands issued before `map` complete before any work queued on the stream after it, and before work of the default
//! stream, on which slices are copied and filled outside of scopes. Work queued on both before the guard ends completes before
//! OpenGL commands issued afterwards. The host waits for neither where the stream is ordered with the default stream. A
//! non-blocking stream is not: there the host waits for the stream when it has mapped, and for the default stream before it
//! unmaps. Scopes on other streams wait for themselves before the guard can end. They begin after earlier OpenGL commands only
//! if the stream of the guard was waited for, or if it is the default stream or a non-blocking one.
//!
//! # What only a GPU shows
//!
//! On the software device, OpenGL is whatever is current on the calling thread: Mesa's by EGL or GLX (on Linux), or the
//! stand-in `cuprum_emulator::opengl::StandIn`. There it copies the contents in when a resource is mapped and out when it is
//! unmapped, and the host waits for the stream meanwhile. That one memory serves both, that nothing is copied, that neither
//! waits on the host, and that both must be on one GPU, only a GPU with NVIDIA's OpenGL shows. Errors and order here are
//! those of an H100 with driver 580 and OpenGL by EGL: mapping and unmapping take some 0.1 ms there beside a kernel that runs
//! on, OpenGL waits for what the stream of the guard was given, and not for work on others.

mod buffer;
mod flags;
mod image;
mod mapped;
mod registered;
mod resources;

use cuprum_sys::{CUdevice, FnId};

pub use self::buffer::RegisteredBuffer;
pub use self::flags::{GlDevices, ImageTarget, MapUse, RegisterFlags};
pub use self::image::RegisteredImage;
pub use self::mapped::{Mapped, MappedBuffer, MappedImage, map};
pub use self::resources::Resources;

use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;

/// Places for devices in the first call; a context of OpenGL on more of them needs a second one.
const DEVICES: usize = 16;

/// The devices of the context of OpenGL that is current on this thread: those to make a CUDA context on whose resources it
/// shares.
///
/// # Errors
/// `CUDA_ERROR_INVALID_GRAPHICS_CONTEXT` if there is no such context; `CUDA_ERROR_NO_DEVICE` if it is on none.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::graphics::{self, GlDevices};
///
/// let device = match graphics::devices(driver, GlDevices::All) {
///     Ok(devices) => devices.first().copied(),
///     Err(error) => {
///         println!("no OpenGL on this thread: {error}");
///         None
///     }
/// };
/// assert!(device.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: `cuGLGetDevices_v2`, CUDA 6.5+, twice if there are more than 16.
#[doc(alias = "cuGLGetDevices_v2")]
#[inline]
pub fn devices(driver: Driver, which: GlDevices) -> Result<Vec<Device>, Error> {
    let mut found: Vec<CUdevice> = vec![0; DEVICES];
    loop {
        let mut count = 0;
        let room = u32::try_from(found.len())
            .map_err(|_| Error::host(cuprum_sys::CUresult::CUDA_ERROR_UNKNOWN, FnId::cuGLGetDevices_v2))?;
        let (out, list) = (&raw mut count, found.as_mut_ptr());
        // SAFETY: `list` has room for so many devices, and both outlive the call.
        unsafe { driver_call!(driver.library(), cuGLGetDevices_v2(out, list, room, which.as_raw())) }?;
        let grown = count as usize > found.len() && found.len() == DEVICES;
        found.resize(if grown { count as usize } else { found.len().min(count as usize) }, 0);
        if !grown {
            return Ok(found.into_iter().map(|raw| Device::new(driver, raw)).collect());
        }
    }
}
