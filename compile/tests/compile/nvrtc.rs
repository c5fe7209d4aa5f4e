//! An NVRTC in this process that records its calls, fails where a test asks for it, and "compiles"
//! PTX by handing it back.
//!
//! Each thread has a state of its own. Source that has the word `refused` does not compile; the
//! expression `nothing` denotes nothing, and any other the kernel `k`.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use cuprum_compile::Compiler;
use cuprum_compile::nvrtc::{FnId, Library, nvrtcProgram, nvrtcResult};

/// Settings and recorded calls of this thread's fake.
#[derive(Default)]
pub(crate) struct State {
    /// Every call, in order.
    pub(crate) calls: Vec<FnId>,
    /// Programs that are not destroyed.
    pub(crate) live: usize,
    /// The call that fails, and its code.
    pub(crate) fail: Option<(FnId, nvrtcResult)>,
    /// Bytes of the log; they need not be text.
    pub(crate) log: Vec<u8>,
    /// A size to return in place of the true one.
    pub(crate) lie: Option<(FnId, usize)>,
    /// The options of the last compilation.
    pub(crate) options: Vec<String>,
    /// Headers of the last program, name and text.
    pub(crate) headers: Vec<(String, String)>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Looks at this thread's state, or changes it.
pub(crate) fn state<R>(with: impl FnOnce(&mut State) -> R) -> R {
    STATE.with_borrow_mut(with)
}

struct Program {
    source: String,
    compiled: bool,
    lowered: CString,
    expressions: Vec<String>,
}

/// Records the call, and fails in place of the function if a test wants it to.
fn called(call: FnId) -> Option<nvrtcResult> {
    state(|state| {
        state.calls.push(call);
        state.fail.filter(|(failing, _)| *failing == call).map(|(_, result)| result)
    })
}

/// A size as the function `call` returns it.
fn size(call: FnId, true_size: usize) -> usize {
    state(|state| state.lie.filter(|(lying, _)| *lying == call).map_or(true_size, |(_, lie)| lie))
}

fn text(raw: *const c_char) -> String {
    // SAFETY: the safe layer passes text as C strings.
    unsafe { CStr::from_ptr(raw) }.to_str().expect("the tests' texts are UTF-8").to_owned()
}

/// The program of a handle.
fn program<'a>(raw: nvrtcProgram) -> &'a mut Program {
    // SAFETY: the handle comes from `create` and is not destroyed; the safe layer uses it on one
    // thread.
    unsafe { &mut *raw.0.cast::<Program>() }
}

/// Writes to the caller's place.
fn put<T>(to: *mut T, value: T) {
    // SAFETY: the caller's place, which is its own to have written.
    unsafe { to.write(value) };
}

fn put_bytes(to: *mut c_char, bytes: &[u8]) {
    // SAFETY: the caller allocated the size that it got from the fake; a test with a wrong size
    // uses a larger one.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
}

/// Declares the functions: each writes down its call first.
macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $body:block)*) => {
        $(
            #[allow(non_snake_case, reason = "functions have the names of C")]
            unsafe extern "system" fn $name($($arg: $ty),*) -> nvrtcResult {
                if let Some(result) = called(FnId::$name) {
                    return result;
                }
                $body
                nvrtcResult::NVRTC_SUCCESS
            }
        )*

        /// The address of a function, null for one that the fake lacks.
        fn address(function: FnId) -> *const c_void {
            match function {
                $(FnId::$name => $name as *const c_void,)*
                _ => ptr::null(),
            }
        }

        /// Every function that the fake has.
        pub(crate) const FUNCTIONS: &[FnId] = &[$(FnId::$name),*];
    };
}

/// Architectures that the fake claims to compile for.
pub(crate) const KNOWN: [c_int; 4] = [52, 75, 86, 90];
const LTO: &[u8] = b"bitcode";
pub(crate) const CUBIN: &[u8] = b"\x7FELF of the fake";

functions! {
    fn nvrtcGetNumSupportedArchs(count: *mut c_int) { put(count, KNOWN.len() as c_int) }
    fn nvrtcGetSupportedArchs(to: *mut c_int) {
        for (i, number) in KNOWN.into_iter().enumerate() {
            put(to.wrapping_add(i), number);
        }
    }
    fn nvrtcCreateProgram(
        to: *mut nvrtcProgram, source: *const c_char, name: *const c_char, count: c_int,
        headers: *const *const c_char, names: *const *const c_char
    ) {
        assert!(!text(name).is_empty());
        let at = |list: *const *const c_char, i: usize| {
            // SAFETY: the lists have `count` texts.
            text(unsafe { list.wrapping_add(i).read() })
        };
        let headers = (0..count as usize).map(|i| (at(names, i), at(headers, i))).collect();
        let made = Program {
            source: text(source),
            compiled: false,
            lowered: CString::from(c"k"),
            expressions: Vec::new(),
        };
        state(|state| {
            state.live += 1;
            state.headers = headers;
        });
        put(to, nvrtcProgram(Box::into_raw(Box::new(made)).cast()));
    }
    fn nvrtcDestroyProgram(to: *mut nvrtcProgram) {
        // SAFETY: a handle that was given, and is taken back here.
        let raw = unsafe { to.read() };
        // SAFETY: as above; the safe layer destroys it once.
        drop(unsafe { Box::from_raw(raw.0.cast::<Program>()) });
        put(to, nvrtcProgram::null());
        state(|state| state.live -= 1);
    }
    fn nvrtcCompileProgram(raw: nvrtcProgram, count: c_int, options: *const *const c_char) {
        // SAFETY: the list has `count` texts.
        let given = (0..count as usize).map(|i| text(unsafe { options.wrapping_add(i).read() })).collect();
        state(|state| state.options = given);
        if program(raw).source.contains("refused") {
            return nvrtcResult::NVRTC_ERROR_COMPILATION;
        }
        program(raw).compiled = true;
    }
    fn nvrtcAddNameExpression(raw: nvrtcProgram, expression: *const c_char) {
        assert!(!program(raw).compiled);
        program(raw).expressions.push(text(expression));
    }
    fn nvrtcGetLoweredName(raw: nvrtcProgram, expression: *const c_char, to: *mut *const c_char) {
        assert!(program(raw).compiled && program(raw).expressions.contains(&text(expression)));
        if text(expression) == "nothing" {
            return nvrtcResult::NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
        }
        put(to, if text(expression) == "null" { ptr::null() } else { program(raw).lowered.as_ptr() });
    }
    fn nvrtcGetPTXSize(raw: nvrtcProgram, to: *mut usize) {
        put(to, size(FnId::nvrtcGetPTXSize, program(raw).source.len() + 1));
    }
    fn nvrtcGetPTX(raw: nvrtcProgram, to: *mut c_char) {
        put_bytes(to, program(raw).source.as_bytes());
        put(to.wrapping_add(program(raw).source.len()), 0);
    }
    fn nvrtcGetCUBINSize(_raw: nvrtcProgram, to: *mut usize) {
        put(to, size(FnId::nvrtcGetCUBINSize, CUBIN.len()));
    }
    fn nvrtcGetCUBIN(_raw: nvrtcProgram, to: *mut c_char) {
        if size(FnId::nvrtcGetCUBINSize, CUBIN.len()) >= CUBIN.len() {
            put_bytes(to, CUBIN);
        }
    }
    fn nvrtcGetLTOIRSize(_raw: nvrtcProgram, to: *mut usize) { put(to, LTO.len()) }
    fn nvrtcGetLTOIR(_raw: nvrtcProgram, to: *mut c_char) { put_bytes(to, LTO) }
    fn nvrtcGetProgramLogSize(_raw: nvrtcProgram, to: *mut usize) {
        put(to, size(FnId::nvrtcGetProgramLogSize, state(|state| state.log.len() + 1)));
    }
    fn nvrtcGetProgramLog(_raw: nvrtcProgram, to: *mut c_char) {
        let log = state(|state| state.log.clone());
        put_bytes(to, &log);
        put(to.wrapping_add(log.len()), 0);
    }
}

/// Of CUDA 12.4.
unsafe extern "system" fn version(major: *mut c_int, minor: *mut c_int) -> nvrtcResult {
    put(major, 12);
    put(minor, 4);
    nvrtcResult::NVRTC_SUCCESS
}

/// Newer than the driver under test, and of its major version.
unsafe extern "system" fn version_of_tomorrow(major: *mut c_int, minor: *mut c_int) -> nvrtcResult {
    put(major, 13);
    put(minor, 99);
    nvrtcResult::NVRTC_SUCCESS
}

fn library(version: *const c_void, lacking: &[FnId]) -> Library {
    let resolve = |function| match function {
        FnId::nvrtcVersion => version,
        lacked if lacking.contains(&lacked) => ptr::null(),
        function => address(function),
    };
    // SAFETY: the functions above, with the ABI of their names.
    unsafe { Library::from_resolver("fake", resolve) }.expect("the fake loads")
}

/// The fake, as a compiler.
pub(crate) fn compiler() -> Compiler {
    Compiler::with_nvrtc(library(version as *const c_void, &[]))
}

/// One without some functions.
pub(crate) fn lacking(functions: &[FnId]) -> Compiler {
    Compiler::with_nvrtc(library(version as *const c_void, functions))
}

/// One that is newer than the driver under test, and of its major version.
pub(crate) fn of_tomorrow() -> Compiler {
    Compiler::with_nvrtc(library(version_of_tomorrow as *const c_void, &[]))
}
