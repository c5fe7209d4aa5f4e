//! A current OpenGL context of EGL or GLX, whose libraries the process has loaded.
//!
//! Each use restores the client's bindings and settings, and keeps the client's errors.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use super::{
    Context, Format, Image, Kind, TEXTURE_2D, TEXTURE_2D_ARRAY, TEXTURE_3D, TEXTURE_CUBE_MAP,
    TEXTURE_RECTANGLE,
};

unsafe extern "C" {
    fn dlopen(name: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// `RTLD_LAZY | RTLD_NOLOAD`: only a library that is already loaded.
const LOADED_ALREADY: c_int = 1 | 4;

type GetCurrent = unsafe extern "C" fn() -> *mut c_void;
type GetAddress = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// Libraries that may have a context: name, function for the context, function for addresses.
const LIBRARIES: [[&CStr; 3]; 3] = [
    [c"libEGL.so.1", c"eglGetCurrentContext", c"eglGetProcAddress"],
    [c"libGLX.so.0", c"glXGetCurrentContext", c"glXGetProcAddressARB"],
    [c"libGL.so.1", c"glXGetCurrentContext", c"glXGetProcAddressARB"],
];

static LOADED: [OnceLock<Loaded>; LIBRARIES.len()] = [const { OnceLock::new() }; LIBRARIES.len()];

/// A library with the functions of OpenGL, which work for any current context.
struct Loaded {
    current: GetCurrent,
    gl: Option<Functions>,
}

impl Loaded {
    fn find([library, current, address]: [&CStr; 3]) -> Option<Self> {
        // SAFETY: C's own function with a NUL-terminated name. It loads nothing, so no code runs.
        // The library stays loaded because the handle is never closed.
        let library = unsafe { dlopen(library.as_ptr(), LOADED_ALREADY) };
        let symbol = |name: &CStr| {
            // SAFETY: the library is open.
            let address = unsafe { dlsym(library, name.as_ptr()) };
            (!library.is_null() && !address.is_null()).then_some(address)
        };
        // SAFETY: in the library of this name, the function of this name has this type.
        let current = unsafe { core::mem::transmute::<*mut c_void, GetCurrent>(symbol(current)?) };
        // SAFETY: as above.
        let address = unsafe { core::mem::transmute::<*mut c_void, GetAddress>(symbol(address)?) };
        Some(Self { current, gl: Functions::load(address) })
    }
}

macro_rules! functions {
    ($( fn $name:ident($($argument:ty),*) $(-> $result:ty)?; )*) => {
        #[allow(non_snake_case, reason = "names are OpenGL's")]
        struct Functions {
            $( $name: unsafe extern "C" fn($($argument),*) $(-> $result)?, )*
        }

        impl Functions {
            fn load(address: GetAddress) -> Option<Self> {
                Some(Self { $( $name: {
                    // SAFETY: a NUL-terminated name.
                    let found = unsafe { address(concat!(stringify!($name), "\0").as_ptr().cast()) };
                    if found.is_null() {
                        return None;
                    }
                    // SAFETY: OpenGL's function of this name has this type.
                    unsafe {
                        core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
                    }
                }, )* })
            }
        }
    };
}

functions! {
    fn glGetString(u32) -> *const c_char;
    fn glGetError() -> u32;
    fn glGetIntegerv(u32, *mut i32);
    fn glPixelStorei(u32, i32);
    fn glIsBuffer(u32) -> u8;
    fn glGenBuffers(i32, *mut u32);
    fn glDeleteBuffers(i32, *const u32);
    fn glBindBuffer(u32, u32);
    fn glBufferData(u32, isize, *const c_void, u32);
    fn glGetBufferParameteriv(u32, u32, *mut i32);
    fn glGetBufferParameteri64v(u32, u32, *mut i64);
    fn glGetBufferSubData(u32, isize, isize, *mut c_void);
    fn glCopyBufferSubData(u32, u32, isize, isize, isize);
    fn glIsTexture(u32) -> u8;
    fn glBindTexture(u32, u32);
    fn glGetTexLevelParameteriv(u32, i32, u32, *mut i32);
    fn glGetTexImage(u32, i32, u32, u32, *mut c_void);
    fn glTexSubImage2D(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
    fn glTexSubImage3D(u32, i32, i32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
}

/// Calls a function of OpenGL. Its context is current, because a `Found` exists only then and is
/// never sent to another thread. Pointers among the arguments are valid during the call, for as
/// many bytes as the function reads or writes.
macro_rules! gl {
    ($gl:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        // The arguments are evaluated outside of the `unsafe` block.
        let function = $gl.$name;
        // SAFETY: see the documentation of the macro.
        unsafe { function($($argument),*) }
    }};
}

const VERSION: u32 = 0x1F02;
const COPY_READ_BUFFER: u32 = 0x8F36;
const COPY_WRITE_BUFFER: u32 = 0x8F37;
const PIXEL_PACK_BUFFER: u32 = 0x88EB;
const PIXEL_UNPACK_BUFFER: u32 = 0x88EC;
const PIXEL_PACK_BUFFER_BINDING: u32 = 0x88ED;
const PIXEL_UNPACK_BUFFER_BINDING: u32 = 0x88EF;
const BUFFER_SIZE: u32 = 0x8764;
const BUFFER_MAPPED: u32 = 0x88BC;
const BUFFER_ACCESS_FLAGS: u32 = 0x911F;
const MAP_PERSISTENT_BIT: i32 = 0x40;
const STREAM_COPY: u32 = 0x88E2;
const TEXTURE_WIDTH: u32 = 0x1000;
const TEXTURE_HEIGHT: u32 = 0x1001;
const TEXTURE_DEPTH: u32 = 0x8071;
const TEXTURE_INTERNAL_FORMAT: u32 = 0x1003;
const FIRST_FACE: u32 = 0x8515;
/// Maximum number of levels of a texture.
const MOST_LEVELS: i32 = 32;

/// Settings of the layout of texels in memory, with the values for contiguous texels.
const STORE: [(u32, i32); 14] = [
    // For reads: swapped bytes, row length, skipped rows, pixels, images, image height, alignment.
    (0x0D00, 0),
    (0x0D02, 0),
    (0x0D03, 0),
    (0x0D04, 0),
    (0x806B, 0),
    (0x806C, 0),
    (0x0D05, 1),
    // For writing.
    (0x0CF0, 0),
    (0x0CF2, 0),
    (0x0CF3, 0),
    (0x0CF4, 0),
    (0x806D, 0),
    (0x806E, 0),
    (0x0CF5, 1),
];

/// Returns the setting that identifies the texture bound to a target.
fn binding_of(target: u32) -> Option<u32> {
    match target {
        TEXTURE_2D => Some(0x8069),
        TEXTURE_RECTANGLE => Some(0x84F6),
        TEXTURE_CUBE_MAP => Some(0x8514),
        TEXTURE_3D => Some(0x806A),
        TEXTURE_2D_ARRAY => Some(0x8C1D),
        _ => None,
    }
}

/// Returns the context of a loaded library; `None` without one, and an error for one that is not
/// supported.
pub(super) fn current() -> Result<Option<Found>, &'static str> {
    for (names, loaded) in LIBRARIES.iter().zip(&LOADED) {
        let loaded = match loaded.get() {
            Some(loaded) => loaded,
            None => match Loaded::find(*names) {
                Some(found) => loaded.get_or_init(|| found),
                None => continue,
            },
        };
        // SAFETY: may be called at any time, on any thread.
        let context = unsafe { (loaded.current)() };
        if !context.is_null() {
            let gl = loaded.gl.as_ref().ok_or(TOO_OLD)?;
            return Found { identity: context.addr() as u64, gl }.checked();
        }
    }
    Ok(None)
}

const TOO_OLD: &str = "the software device needs OpenGL 3.1, and the context of OpenGL on this thread has less: ask for a newer one";
const EMBEDDED: &str = "CUDA shares no memory with OpenGL ES, of which the context on this thread is: make one of OpenGL, \
     with eglBindAPI(EGL_OPENGL_API) before";

/// A context of OpenGL, current on this thread.
pub(super) struct Found {
    identity: u64,
    gl: &'static Functions,
}

impl Found {
    /// `None` if none is current. Fails for OpenGL ES, and for versions without the functions
    /// needed here.
    fn checked(self) -> Result<Option<Self>, &'static str> {
        let text = gl!(self.gl, glGetString(VERSION));
        if text.is_null() {
            return Ok(None);
        }
        // SAFETY: not null, so it is a string of OpenGL, which never changes.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        let mut numbers = text.split(['.', ' ']).map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (3, 1) => Ok(Some(self)),
            (Some(Ok(_)), _) => Err(TOO_OLD),
            _ => Err(EMBEDDED),
        }
    }

    fn integer(&self, setting: u32) -> i32 {
        let mut value = 0;
        gl!(self.gl, glGetIntegerv(setting, &raw mut value));
        value
    }

    /// Returns the name that a setting states as bound.
    fn name_in(&self, setting: u32) -> u32 {
        self.integer(setting) as u32
    }

    /// Binds a buffer object until the result is dropped. `setting` identifies the bound object.
    fn bind_buffer(&self, target: u32, setting: u32, name: u32) -> Bound<'_> {
        let before = self.name_in(setting);
        gl!(self.gl, glBindBuffer(target, name));
        Bound { gl: self.gl, bind: self.gl.glBindBuffer, target, before }
    }

    /// Binds a texture until the result is dropped. Returns `None` if it does not have that target.
    fn bind_texture(&self, name: u32, target: u32) -> Option<Bound<'_>> {
        let setting = binding_of(target)?;
        if gl!(self.gl, glIsTexture(name)) == 0 {
            return None;
        }
        let before = self.name_in(setting);
        gl!(self.gl, glBindTexture(target, name));
        let bound = Bound { gl: self.gl, bind: self.gl.glBindTexture, target, before };
        if self.name_in(setting) == name {
            return Some(bound);
        }
        // It was refused. The error is not the client's, so it is cleared.
        gl!(self.gl, glGetError());
        None
    }

    /// True if OpenGL has mapped the buffer bound there exclusively.
    fn is_mapped_by_host(&self, target: u32) -> bool {
        let (mut mapped, mut access) = (0, 0);
        gl!(self.gl, glGetBufferParameteriv(target, BUFFER_MAPPED, &raw mut mapped));
        gl!(self.gl, glGetBufferParameteriv(target, BUFFER_ACCESS_FLAGS, &raw mut access));
        mapped != 0 && access & MAP_PERSISTENT_BIT == 0
    }

    fn level_parameter(&self, target: u32, level: i32, parameter: u32) -> usize {
        let target = if target == TEXTURE_CUBE_MAP { FIRST_FACE } else { target };
        let mut value = 0;
        gl!(self.gl, glGetTexLevelParameteriv(target, level, parameter, &raw mut value));
        usize::try_from(value).unwrap_or(0)
    }

    /// Returns the width, height and slices of a level; `None` if it does not exist.
    fn sides(&self, target: u32, kind: Kind, level: i32) -> Option<[usize; 3]> {
        let side = |parameter| self.level_parameter(target, level, parameter);
        let [width, height] = [TEXTURE_WIDTH, TEXTURE_HEIGHT].map(side);
        let slices = match kind {
            Kind::Flat => 1,
            Kind::Cube => 6,
            Kind::Solid | Kind::Layers => side(TEXTURE_DEPTH),
        };
        (width * height * slices > 0).then_some([width, height, slices])
    }

    /// Runs `copy` with the texture bound and contiguous texels.
    fn with_texels(&self, name: u32, target: u32, copy: impl FnOnce()) -> bool {
        let Some(_texture) = self.bind_texture(name, target) else { return false };
        let _pack = self.bind_buffer(PIXEL_PACK_BUFFER, PIXEL_PACK_BUFFER_BINDING, 0);
        let _unpack = self.bind_buffer(PIXEL_UNPACK_BUFFER, PIXEL_UNPACK_BUFFER_BINDING, 0);
        let before = STORE.map(|(setting, _)| (setting, self.integer(setting)));
        let store = |all: [(u32, i32); STORE.len()]| {
            for (setting, value) in all {
                gl!(self.gl, glPixelStorei(setting, value));
            }
        };
        store(STORE);
        copy();
        store(before);
        true
    }
}

/// A binding that ends on drop.
struct Bound<'a> {
    gl: &'a Functions,
    bind: unsafe extern "C" fn(u32, u32),
    target: u32,
    before: u32,
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        let _current = self.gl;
        // SAFETY: the context is current: created on this thread in the same driver call.
        unsafe { (self.bind)(self.target, self.before) };
    }
}

impl Context for Found {
    fn identity(&self) -> u64 {
        self.identity
    }

    fn buffer_bytes(&self, name: u32) -> Option<usize> {
        if gl!(self.gl, glIsBuffer(name)) == 0 {
            return None;
        }
        let _bound = self.bind_buffer(COPY_READ_BUFFER, COPY_READ_BUFFER, name);
        let mut bytes = 0;
        gl!(self.gl, glGetBufferParameteri64v(COPY_READ_BUFFER, BUFFER_SIZE, &raw mut bytes));
        usize::try_from(bytes).ok()
    }

    fn read_buffer(&self, name: u32, into: &mut [u8]) -> bool {
        if self.buffer_bytes(name).is_none_or(|bytes| bytes < into.len()) {
            return false;
        }
        let _bound = self.bind_buffer(COPY_READ_BUFFER, COPY_READ_BUFFER, name);
        if self.is_mapped_by_host(COPY_READ_BUFFER) {
            return false;
        }
        let (bytes, place) = (into.len() as isize, into.as_mut_ptr().cast());
        gl!(self.gl, glGetBufferSubData(COPY_READ_BUFFER, 0, bytes, place));
        true
    }

    /// Uses a separate buffer, because the client may have made the storage immutable for the host.
    fn write_buffer(&self, name: u32, from: &[u8]) -> bool {
        if self.buffer_bytes(name).is_none_or(|bytes| bytes < from.len()) {
            return false;
        }
        let _target = self.bind_buffer(COPY_WRITE_BUFFER, COPY_WRITE_BUFFER, name);
        if self.is_mapped_by_host(COPY_WRITE_BUFFER) {
            return false;
        }
        let mut own = 0;
        gl!(self.gl, glGenBuffers(1, &raw mut own));
        {
            let _source = self.bind_buffer(COPY_READ_BUFFER, COPY_READ_BUFFER, own);
            let (bytes, data) = (from.len() as isize, from.as_ptr().cast());
            gl!(self.gl, glBufferData(COPY_READ_BUFFER, bytes, data, STREAM_COPY));
            gl!(self.gl, glCopyBufferSubData(COPY_READ_BUFFER, COPY_WRITE_BUFFER, 0, 0, bytes));
        }
        gl!(self.gl, glDeleteBuffers(1, &raw const own));
        true
    }

    fn is_texture(&self, name: u32) -> bool {
        gl!(self.gl, glIsTexture(name)) != 0
    }

    fn image(&self, name: u32, target: u32) -> Option<Image> {
        let kind = Kind::of(target)?;
        let _texture = self.bind_texture(name, target)?;
        let internal = self.level_parameter(target, 0, TEXTURE_INTERNAL_FORMAT);
        let format = Format::of(u32::try_from(internal).ok()?)?;
        let most = if target == TEXTURE_RECTANGLE { 1 } else { MOST_LEVELS };
        let levels: Vec<_> = (0..most).map_while(|level| self.sides(target, kind, level)).collect();
        (!levels.is_empty()).then_some(Image { target, kind, format, levels })
    }

    fn read_level(&self, name: u32, image: &Image, level: usize, into: &mut [u8]) -> bool {
        if into.len() != image.bytes(level) || self.image(name, image.target).as_ref() != Some(image) {
            return false;
        }
        let Format { external, channel, .. } = image.format;
        self.with_texels(name, image.target, || {
            // A cube is read face by face.
            let faces = if image.kind == Kind::Cube { 6 } else { 1 };
            let bytes = into.len() / faces;
            for (face, into) in into.chunks_exact_mut(bytes).enumerate() {
                let target = if image.kind == Kind::Cube { FIRST_FACE + face as u32 } else { image.target };
                let place = into.as_mut_ptr().cast();
                gl!(self.gl, glGetTexImage(target, level as i32, external, channel, place));
            }
        })
    }

    fn write_level(&self, name: u32, image: &Image, level: usize, from: &[u8]) -> bool {
        if from.len() != image.bytes(level) || self.image(name, image.target).as_ref() != Some(image) {
            return false;
        }
        let Format { external, channel, .. } = image.format;
        let [width, height, slices] = image.levels[level].map(|side| side as i32);
        let level = level as i32;
        self.with_texels(name, image.target, || {
            let slice = from.len() / slices as usize;
            let texels = from.as_ptr().cast();
            match image.kind {
                Kind::Solid | Kind::Layers => gl!(
                    self.gl,
                    glTexSubImage3D(
                        image.target,
                        level,
                        0,
                        0,
                        0,
                        width,
                        height,
                        slices,
                        external,
                        channel,
                        texels
                    )
                ),
                Kind::Flat | Kind::Cube => {
                    for (face, from) in from.chunks_exact(slice).enumerate() {
                        let cube = image.kind == Kind::Cube;
                        let target = if cube { FIRST_FACE + face as u32 } else { image.target };
                        let texels = from.as_ptr().cast();
                        gl!(
                            self.gl,
                            glTexSubImage2D(target, level, 0, 0, width, height, external, channel, texels)
                        );
                    }
                }
            }
        })
    }
}
