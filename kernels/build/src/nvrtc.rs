//! The few NVRTC calls that turn one source into PTX, resolved from a library named at run time.

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

type Program = *mut c_void;

/// A loaded NVRTC library.
#[derive(Debug)]
pub(crate) struct Nvrtc {
    library: Library,
}

/// The functions of NVRTC that this program calls: name, then parameter types.
macro_rules! nvrtc_calls {
    ($($method:ident = $symbol:literal ($($argument:ident: $kind:ty),*);)*) => {
        impl Nvrtc {
            $(
                /// # Safety
                /// The arguments are what the NVRTC function of that name asks for.
                unsafe fn $method(&self, $($argument: $kind),*) -> Result<(), String> {
                    // SAFETY: the signature is the one NVRTC documents for this symbol since its first release.
                    let call = unsafe {
                        self.library.get::<unsafe extern "C" fn($($kind),*) -> c_int>($symbol.as_bytes())
                    }
                    .map_err(|error| format!("{} is missing: {error}", $symbol))?;
                    // SAFETY: passed on from our caller.
                    match unsafe { call($($argument),*) } {
                        0 => Ok(()),
                        code => Err(format!("{} failed with code {code}", $symbol)),
                    }
                }
            )*
        }
    };
}

nvrtc_calls! {
    raw_version = "nvrtcVersion" (major: *mut c_int, minor: *mut c_int);
    raw_create = "nvrtcCreateProgram" (
        program: *mut Program, source: *const c_char, name: *const c_char,
        header_count: c_int, headers: *const *const c_char, header_names: *const *const c_char
    );
    raw_compile = "nvrtcCompileProgram" (program: Program, count: c_int, options: *const *const c_char);
    raw_ptx_size = "nvrtcGetPTXSize" (program: Program, size: *mut usize);
    raw_ptx = "nvrtcGetPTX" (program: Program, text: *mut c_char);
    raw_log_size = "nvrtcGetProgramLogSize" (program: Program, size: *mut usize);
    raw_log = "nvrtcGetProgramLog" (program: Program, text: *mut c_char);
    raw_destroy = "nvrtcDestroyProgram" (program: *mut Program);
}

impl Nvrtc {
    /// Loads the library at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: the user named this file as NVRTC; its initializers only set up the compiler.
        let library =
            unsafe { Library::new(path) }.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { library })
    }

    /// Major and minor version of the compiler.
    pub(crate) fn version(&self) -> Result<(i32, i32), String> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both out-parameters are live integers.
        unsafe { self.raw_version(&mut major, &mut minor) }?;
        Ok((major, minor))
    }

    /// Compiles `source` to PTX; `name` is what line information and messages call it.
    /// The error holds the compiler's log.
    pub(crate) fn compile(&self, name: &str, source: &str, options: &[String]) -> Result<String, String> {
        let to_c = |text: &str| CString::new(text).map_err(|_| format!("{name}: a NUL byte in {text:?}"));
        let (source, c_name) = (to_c(source)?, to_c(name)?);
        let options = options.iter().map(|option| to_c(option)).collect::<Result<Vec<_>, _>>()?;
        let option_pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(option_pointers.len()).map_err(|_| "too many options".to_owned())?;

        let mut program = ptr::null_mut();
        // SAFETY: source and name are live C strings; without headers both lists may be null.
        unsafe {
            self.raw_create(&mut program, source.as_ptr(), c_name.as_ptr(), 0, ptr::null(), ptr::null())
        }?;
        // SAFETY: `program` was created above; the pointers outlive the call and are `count` in number.
        let compiled = unsafe { self.raw_compile(program, count, option_pointers.as_ptr()) };
        let result = match compiled {
            Ok(()) => self.text(program, Self::raw_ptx_size, Self::raw_ptx),
            Err(error) => {
                let log = self.text(program, Self::raw_log_size, Self::raw_log).unwrap_or_default();
                Err(format!("{name}: {error}\n{log}"))
            }
        };
        // SAFETY: `program` is live and not used after this call.
        unsafe { self.raw_destroy(&mut program) }?;
        result
    }

    /// Reads one of the program's texts: its size first, then its bytes with the final NUL.
    fn text(
        &self,
        program: Program,
        size_of: unsafe fn(&Self, Program, *mut usize) -> Result<(), String>,
        read: unsafe fn(&Self, Program, *mut c_char) -> Result<(), String>,
    ) -> Result<String, String> {
        let mut size = 0;
        // SAFETY: `program` is live, `size` is a live out-parameter.
        unsafe { size_of(self, program, &mut size) }?;
        let mut bytes = vec![0_u8; size];
        // SAFETY: the buffer has the size that NVRTC asked for.
        unsafe { read(self, program, bytes.as_mut_ptr().cast()) }?;
        let text = CStr::from_bytes_until_nul(&bytes).map_err(|error| error.to_string())?;
        text.to_str().map(str::to_owned).map_err(|error| error.to_string())
    }
}
