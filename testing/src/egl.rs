//! A context of OpenGL without a window, by EGL, and the few functions of OpenGL that tests and an
//! example use.
//!
//! Linux only. A program has its own context, from the library that makes its windows.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use libloading::os::unix::Library;

pub const ARRAY_BUFFER: u32 = 0x8892;
pub const DYNAMIC_DRAW: u32 = 0x88E8;
pub const TEXTURE_2D: u32 = 0x0DE1;
pub const TEXTURE_2D_ARRAY: u32 = 0x8C1A;
pub const TEXTURE_3D: u32 = 0x806F;
pub const TEXTURE_CUBE_MAP: u32 = 0x8513;
pub const TEXTURE_RECTANGLE: u32 = 0x84F5;
const RENDERER: u32 = 0x1F01;

type Handle = *mut c_void;

macro_rules! functions {
    ($table:ident: $( fn $name:ident($($argument:ty),*) $(-> $result:ty)?; )*) => {
        #[allow(non_snake_case, reason = "names are the library's")]
        pub struct $table {
            $( pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?, )*
        }

        impl $table {
            /// `None` if a function is missing.
            fn load(mut find: impl FnMut(&CStr) -> Handle) -> Option<Self> {
                Some(Self { $( $name: {
                    let name = concat!(stringify!($name), "\0");
                    let found = find(CStr::from_bytes_with_nul(name.as_bytes()).ok()?);
                    if found.is_null() {
                        return None;
                    }
                    // SAFETY: the function of that name has this type.
                    unsafe {
                        std::mem::transmute::<Handle, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
                    }
                }, )* })
            }
        }
    };
}

functions! { Egl:
    fn eglGetPlatformDisplay(u32, Handle, *const isize) -> Handle;
    fn eglInitialize(Handle, *mut c_int, *mut c_int) -> u32;
    fn eglBindAPI(u32) -> u32;
    fn eglCreateContext(Handle, Handle, Handle, *const c_int) -> Handle;
    fn eglDestroyContext(Handle, Handle) -> u32;
    fn eglMakeCurrent(Handle, Handle, Handle, Handle) -> u32;
    fn eglQueryDevicesEXT(c_int, *mut Handle, *mut c_int) -> u32;
}

functions! { Functions:
    fn glGetString(u32) -> *const c_char;
    fn glGetError() -> u32;
    fn glGetIntegerv(u32, *mut i32);
    fn glPixelStorei(u32, i32);
    fn glGenBuffers(i32, *mut u32);
    fn glDeleteBuffers(i32, *const u32);
    fn glBindBuffer(u32, u32);
    fn glBufferData(u32, isize, *const c_void, u32);
    fn glBufferStorage(u32, isize, *const c_void, u32);
    fn glBufferSubData(u32, isize, isize, *const c_void);
    fn glGetBufferSubData(u32, isize, isize, *mut c_void);
    fn glMapBufferRange(u32, isize, isize, u32) -> Handle;
    fn glUnmapBuffer(u32) -> u8;
    fn glGenTextures(i32, *mut u32);
    fn glBindTexture(u32, u32);
    fn glTexStorage2D(u32, i32, u32, i32, i32);
    fn glTexStorage3D(u32, i32, u32, i32, i32, i32);
    fn glTexSubImage2D(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
    fn glTexSubImage3D(u32, i32, i32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
    fn glGetTexImage(u32, i32, u32, u32, *mut c_void);
    fn glFinish();
}

/// Why there is no OpenGL, in a sentence.
pub type Missing = &'static str;

/// A context of OpenGL. It is current on its thread from `current` on.
pub struct Gl {
    egl: Egl,
    display: Handle,
    context: Handle,
    pub gl: Functions,
}

impl Gl {
    /// Makes a context of OpenGL 4.5, and makes it current: on a device of NVIDIA's if `nvidia`, or
    /// else wherever EGL can.
    pub fn current(nvidia: bool) -> Result<Self, Missing> {
        // SAFETY: a library of the system, whose start has no conditions.
        let library = unsafe { Library::new("libEGL.so.1") }.map_err(|_| "there is no libEGL.so.1")?;
        let library: &'static Library = Box::leak(Box::new(library));
        let missing = "libEGL.so.1 lacks functions of EGL 1.5";
        // SAFETY: the function of that name has this type.
        let address =
            unsafe { library.get::<unsafe extern "C" fn(*const c_char) -> Handle>(b"eglGetProcAddress\0") };
        let address = *address.map_err(|_| missing)?;
        // SAFETY: given a name that ends with NUL.
        let find = |name: &CStr| unsafe { address(name.as_ptr()) };
        let egl = Egl::load(find).ok_or(missing)?;
        let gl = Functions::load(find).ok_or("EGL knows no functions of OpenGL 4.5")?;
        for display in displays(&egl) {
            let Some(context) = context_on(&egl, display) else { continue };
            let found = Self { egl, display, context, gl };
            if !nvidia || found.renderer().contains("NVIDIA") {
                return Ok(found);
            }
            return Err("EGL's first device that has OpenGL is none of NVIDIA's");
        }
        Err("EGL has no display without a window on which OpenGL 4.5 runs")
    }

    /// Name of the renderer.
    pub fn renderer(&self) -> String {
        // SAFETY: the context is current.
        let text = unsafe { (self.gl.glGetString)(RENDERER) };
        // SAFETY: a string of OpenGL's.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// Makes the context current on this thread.
    pub fn make_current(&self) {
        self.bind(self.context);
    }

    /// Makes no context current on this thread.
    pub fn make_none_current(&self) {
        self.bind(null_mut());
    }

    fn bind(&self, context: Handle) {
        // SAFETY: the display and the context are live.
        let bound = unsafe { (self.egl.eglMakeCurrent)(self.display, null_mut(), null_mut(), context) };
        assert_eq!(bound, 1, "a context is made current");
    }

    /// Makes another context that shares nothing with this one, and makes it current.
    pub fn make_another_current(&self) {
        let other = context_on(&self.egl, self.display);
        assert!(other.is_some(), "a second context");
    }

    /// Ends the context, which is current on no thread.
    pub fn destroy(self) {
        // SAFETY: both are live, and the context is not used again.
        unsafe { (self.egl.eglDestroyContext)(self.display, self.context) };
    }

    /// A buffer object with these bytes, bound to `GL_ARRAY_BUFFER`.
    pub fn buffer(&self, bytes: &[u8]) -> u32 {
        let (mut name, gl) = (0, &self.gl);
        // SAFETY: a place for one name.
        unsafe { (gl.glGenBuffers)(1, &raw mut name) };
        // SAFETY: the name is of a buffer.
        unsafe { (gl.glBindBuffer)(ARRAY_BUFFER, name) };
        let (size, data) = (bytes.len() as isize, bytes.as_ptr().cast());
        // SAFETY: so many bytes are there.
        unsafe { (gl.glBufferData)(ARRAY_BUFFER, size, data, DYNAMIC_DRAW) };
        name
    }

    /// The bytes of a buffer object, which is bound to `GL_ARRAY_BUFFER`.
    pub fn read_buffer(&self, name: u32, bytes: usize) -> Vec<u8> {
        let mut read = vec![0; bytes];
        // SAFETY: the name is of a buffer.
        unsafe { (self.gl.glBindBuffer)(ARRAY_BUFFER, name) };
        let (size, data) = (bytes as isize, read.as_mut_ptr().cast());
        // SAFETY: there is room for so many bytes.
        unsafe { (self.gl.glGetBufferSubData)(ARRAY_BUFFER, 0, size, data) };
        read
    }

    /// A texture with storage of so many levels, bound to its target. Arrays and solids have
    /// `slices`.
    pub fn texture(&self, target: u32, format: u32, levels: i32, [width, height, slices]: [i32; 3]) -> u32 {
        let (mut name, gl) = (0, &self.gl);
        // SAFETY: a place for one name.
        unsafe { (gl.glGenTextures)(1, &raw mut name) };
        // SAFETY: a new name.
        unsafe { (gl.glBindTexture)(target, name) };
        if matches!(target, TEXTURE_2D_ARRAY | TEXTURE_3D) {
            // SAFETY: the texture is bound.
            unsafe { (gl.glTexStorage3D)(target, levels, format, width, height, slices) };
        } else {
            // SAFETY: the texture is bound.
            unsafe { (gl.glTexStorage2D)(target, levels, format, width, height) };
        }
        name
    }

    /// The next unread error of OpenGL; 0 for none.
    pub fn error(&self) -> u32 {
        // SAFETY: the context is current.
        unsafe { (self.gl.glGetError)() }
    }

    /// A setting that is one number.
    pub fn integer(&self, setting: u32) -> i32 {
        let mut value = 0;
        // SAFETY: a place for the value.
        unsafe { (self.gl.glGetIntegerv)(setting, &raw mut value) };
        value
    }
}

/// Displays without windows: of each device, or else Mesa's of none.
fn displays(egl: &Egl) -> Vec<Handle> {
    const DEVICE: u32 = 0x313F;
    const SURFACELESS: u32 = 0x31DD;
    let (mut devices, mut count) = ([null_mut(); 16], 0);
    // SAFETY: there is room for so many devices.
    unsafe { (egl.eglQueryDevicesEXT)(16, devices.as_mut_ptr(), &raw mut count) };
    let all = devices.iter().take(count.max(0) as usize).map(|&device| (DEVICE, device));
    let displays = all.chain([(SURFACELESS, null_mut())]).map(|(platform, device)| {
        // SAFETY: a device that EGL has just returned, or the default of the platform.
        unsafe { (egl.eglGetPlatformDisplay)(platform, device, null()) }
    });
    displays.filter(|display| !display.is_null()).collect()
}

/// A context of OpenGL 4.5, made current.
fn context_on(egl: &Egl, display: Handle) -> Option<Handle> {
    const OPENGL: u32 = 0x30A2;
    /// Major and minor version.
    const WANTED: [c_int; 5] = [0x3098, 4, 0x30FB, 5, 0x3038];
    // SAFETY: the display is one of EGL's; the version is not wanted.
    (unsafe { (egl.eglInitialize)(display, null_mut(), null_mut()) } == 1).then_some(())?;
    // SAFETY: takes a number.
    unsafe { (egl.eglBindAPI)(OPENGL) };
    // SAFETY: without a configuration and without another context; the list ends as EGL's do.
    let context = unsafe { (egl.eglCreateContext)(display, null_mut(), null_mut(), WANTED.as_ptr()) };
    (!context.is_null()).then_some(())?;
    // SAFETY: the context was just made.
    let current = unsafe { (egl.eglMakeCurrent)(display, null_mut(), null_mut(), context) };
    (current == 1).then_some(context)
}
