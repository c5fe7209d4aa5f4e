//! OpenGL buffers and images, used by CUDA in place.
//!
//! A [`RegisteredBuffer`] is an OpenGL buffer object, and a [`RegisteredImage`] a texture or
//! renderbuffer, registered with a CUDA context. While a guard, [`Mapped`], exists, OpenGL cannot
//! use them, and the guard lends a buffer as [slices](crate::memory::Slice) and an image as
//! [arrays](crate::memory::ArrayView). [`map`] maps several in one call.
//!
//! ```
//! # cuprum::example!(software driver, context, cx);
//! use cuprum::Stream;
//! use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer};
//!
//! // An OpenGL context is current on this thread, and `glGenBuffers` returned the name.
//! # let gl = cuprum_emulator::opengl::StandIn::make_current();
//! # let name = gl.buffer(&[0; 16]);
//! let stream = Stream::new(&cx)?;
//! // SAFETY: OpenGL neither deletes the buffer nor uses it while it is mapped, and stays current on this thread.
//! let mut vertices = unsafe { RegisteredBuffer::new(&cx, name, RegisterFlags::empty()) }?;
//!
//! let mut mapped = graphics::map(&cx, &stream, &mut vertices)?;
//! let mut view = mapped.views();
//! cx.fill(&mut view.as_mut_slice::<f32>(&cx)?, 0.5)?;
//! mapped.unmap(&cx)?;
//! // From here on, OpenGL can use it again.
//! # assert_eq!(gl.read_buffer(name).ok_or("gone")?[..4], 0.5f32.to_ne_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees of the types, and duties of the caller
//!
//! | rule | guaranteed by |
//! |---|---|
//! | unregister before the CUDA context ends | the owner borrows or shares its context |
//! | unmap before it is mapped again, unregistered, or gets other flags | the guard borrows the owner mutably |
//! | no use of an address or array after unmapping | slices and arrays borrow the guard; work queued through them completes before: on the stream, on the default stream, and in scopes, which wait. For kernels on other streams it is a [duty of the launch](crate::launch#duties-of-a-launch) |
//! | the stream outlives the guard, which unmaps on it | the guard borrows the stream |
//! | registered, mapped and unregistered on one thread, with a current OpenGL context | owners and guards are neither `Send` nor `Sync`; the caller of the registration must keep the context current |
//! | the OpenGL object lives, and OpenGL does not use it while it is mapped | the caller of the registration |
//!
//! If a guard is forgotten, or fails to unmap, its resources stay mapped. They are unmapped when
//! they are mapped again, and before their owner unregisters them.
//!
//! Without a current OpenGL context, nothing is mapped, unmapped or unregistered; the error is
//! `CUDA_ERROR_INVALID_GRAPHICS_CONTEXT`. So if an owner is dropped after its OpenGL context, the
//! driver keeps the resource until the CUDA context ends (on an H100 with driver 580, mapped or
//! not).
//!
//! To move an OpenGL context to another thread with its registered objects, put the owner in your
//! own type, whose `unsafe impl Send` states the reason.
//!
//! # Order with OpenGL
//!
//! OpenGL commands issued before `map` complete before any later work on the stream, and before
//! later work on the default stream, on which slices are copied and filled outside of scopes. Work
//! queued on both before the guard ends completes before later OpenGL commands. The host waits for
//! neither if the stream is ordered with the default stream. For a non-blocking stream, the host
//! waits for the stream after mapping, and for the default stream before unmapping. Scopes on other
//! streams wait for themselves before the guard can end. They begin after earlier OpenGL commands
//! only if the stream of the guard was waited for, or if it is the default stream or a non-blocking
//! one.
//!
//! # Differences on the software device
//!
//! On the software device, OpenGL is the implementation that is current on the calling thread:
//! Mesa's by EGL or GLX (on Linux), or the stand-in `cuprum_emulator::opengl::StandIn`. The
//! software device copies the contents in when a resource is mapped and out when it is unmapped,
//! while the host waits for the stream. Only a GPU with NVIDIA's OpenGL shares one memory without
//! copies or waits of the host, and requires both to be on one GPU. Errors and order here follow an
//! H100 with driver 580 and OpenGL by EGL: during a running kernel, mapping and unmapping take
//! about 0.1 ms there, and OpenGL waits for work on the stream of the guard, but not for work on
//! others.

mod buffer;
mod devices;
mod flags;
mod image;
mod mapped;
mod registered;
mod resources;
mod views;

pub use self::buffer::RegisteredBuffer;
pub use self::devices::devices;
pub use self::flags::RegisterFlags;
pub use self::image::RegisteredImage;
pub use self::mapped::{Mapped, map};
pub use self::resources::Resources;
pub use self::views::{MappedBuffer, MappedImage};
