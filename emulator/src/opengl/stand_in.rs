//! An OpenGL context without drawing: it stores buffers and textures by name.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ordered::Ordered;

use super::{Context, Format, Image, Kind, TEXTURE_2D};

/// An OpenGL context for tests and examples without OpenGL, current on its thread until dropped.
///
/// It has buffer objects and flat textures with one level. CUDA's functions for OpenGL find them by
/// name while it is current. The methods replace calls of OpenGL.
///
/// # Example
/// ```
/// use cuprum_emulator::opengl::StandIn;
///
/// let gl = StandIn::make_current();
/// let name = gl.buffer(&[1, 2, 3]);
/// gl.write_buffer(name, &[7]);
/// assert_eq!(gl.read_buffer(name), Some(vec![7, 2, 3]));
/// ```
#[derive(Debug)]
pub struct StandIn {
    objects: Shared,
    /// The context that was current before.
    before: Option<Shared>,
}

type Shared = Rc<Objects>;

#[derive(Debug)]
struct Objects {
    identity: u64,
    by_name: RefCell<Ordered<Object>>,
}

#[derive(Debug)]
enum Object {
    Buffer(Vec<u8>),
    Texture(Option<Image>, Vec<u8>),
}

impl Object {
    fn bytes(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Buffer(bytes) | Self::Texture(_, bytes) => bytes,
        }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

pub(super) fn current() -> Option<Stood> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten().map(Stood)
}

impl StandIn {
    /// Creates a context without objects and makes it current on this thread.
    pub fn make_current() -> Self {
        /// Above all addresses, which identify other contexts.
        static NEXT: AtomicU64 = AtomicU64::new(1 << 63);
        let identity = NEXT.fetch_add(1, Ordering::Relaxed);
        let objects = Rc::new(Objects { identity, by_name: RefCell::default() });
        let before = CURRENT.with(|current| current.replace(Some(Rc::clone(&objects))));
        Self { objects, before }
    }

    /// Creates a buffer object with these bytes and returns its name.
    pub fn buffer(&self, bytes: &[u8]) -> u32 {
        self.insert(Object::Buffer(bytes.to_vec()))
    }

    /// Creates a `GL_TEXTURE_2D` with one level from its rows, and returns its name.
    /// `internal_format` is, for example, `GL_RGBA8` (0x8058). Missing bytes are zero.
    pub fn texture(&self, internal_format: u32, width: usize, height: usize, rows: &[u8]) -> u32 {
        let levels = vec![[width, height, 1]];
        let image = Format::of(internal_format).map(|format| Image {
            target: TEXTURE_2D,
            kind: Kind::Flat,
            format,
            levels,
        });
        let mut bytes = rows.to_vec();
        bytes.resize(image.as_ref().map_or(0, |image| image.bytes(0)), 0);
        self.insert(Object::Texture(image, bytes))
    }

    fn insert(&self, object: Object) -> u32 {
        let mut by_name = self.objects.by_name.borrow_mut();
        let name = by_name.last_key().map_or(1, |name| (name as u32).wrapping_add(1));
        by_name.insert(name.into(), object);
        name
    }

    /// Returns the bytes of a buffer object; `None` if the name is invalid.
    pub fn read_buffer(&self, name: u32) -> Option<Vec<u8>> {
        match self.objects.by_name.borrow().get(name.into())? {
            Object::Buffer(bytes) => Some(bytes.clone()),
            Object::Texture(..) => None,
        }
    }

    /// Overwrites the first bytes of a buffer. Returns false for an invalid name or a small buffer.
    pub fn write_buffer(&self, name: u32, bytes: &[u8]) -> bool {
        Stood(Rc::clone(&self.objects)).write_buffer(name, bytes)
    }

    /// Returns the texels of a texture, row by row; `None` if the name is invalid.
    pub fn read_texture(&self, name: u32) -> Option<Vec<u8>> {
        match self.objects.by_name.borrow().get(name.into())? {
            Object::Texture(_, bytes) => Some(bytes.clone()),
            Object::Buffer(_) => None,
        }
    }

    /// Deletes a buffer object or texture. Returns false if the name is invalid.
    pub fn delete(&self, name: u32) -> bool {
        self.objects.by_name.borrow_mut().remove(name.into()).is_some()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // While the thread ends, no context is current.
        let _ = CURRENT.try_with(|current| {
            let mut current = current.borrow_mut();
            if current.as_ref().is_some_and(|current| Rc::ptr_eq(current, &self.objects)) {
                *current = self.before.take();
            }
        });
    }
}

/// A stand-in in the form that the driver uses.
#[derive(Debug)]
pub(super) struct Stood(Shared);

impl Stood {
    /// Copies from or to the first `len` bytes of an object.
    fn with(&self, name: u32, len: usize, copy: impl FnOnce(&mut [u8])) -> bool {
        let mut by_name = self.0.by_name.borrow_mut();
        let bytes = by_name.get_mut(name.into()).and_then(|object| object.bytes().get_mut(..len));
        bytes.map(copy).is_some()
    }
}

impl Context for Stood {
    fn identity(&self) -> u64 {
        self.0.identity
    }

    fn buffer_bytes(&self, name: u32) -> Option<usize> {
        match self.0.by_name.borrow().get(name.into())? {
            Object::Buffer(bytes) => Some(bytes.len()),
            Object::Texture(..) => None,
        }
    }

    fn read_buffer(&self, name: u32, into: &mut [u8]) -> bool {
        self.with(name, into.len(), |bytes| into.copy_from_slice(bytes))
    }

    fn write_buffer(&self, name: u32, from: &[u8]) -> bool {
        self.with(name, from.len(), |bytes| bytes.copy_from_slice(from))
    }

    fn is_texture(&self, name: u32) -> bool {
        matches!(self.0.by_name.borrow().get(name.into()), Some(Object::Texture(..)))
    }

    fn image(&self, name: u32, target: u32) -> Option<Image> {
        match self.0.by_name.borrow().get(name.into())? {
            Object::Texture(image, _) => image.clone().filter(|image| image.target == target),
            Object::Buffer(_) => None,
        }
    }

    fn read_level(&self, name: u32, _image: &Image, level: usize, into: &mut [u8]) -> bool {
        level == 0 && self.read_buffer(name, into)
    }

    fn write_level(&self, name: u32, _image: &Image, level: usize, from: &[u8]) -> bool {
        level == 0 && self.write_buffer(name, from)
    }
}
