//! Compiling with NVRTC: one owned program, destroyed on every path.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

use cuprum::device::ComputeCapability;

use super::architecture::capabilities;
use super::code::Code;
use super::error::Log;
use super::log::Severity;
use super::nvrtc::{self, FnId, nvrtc_call, nvrtcProgram, nvrtcResult};
use super::{CompileError, Output, Source};

/// Result of a call, and the call.
type Answer = (nvrtcResult, FnId);
/// Returns the size in bytes of an output.
type SizeFn = unsafe extern "system" fn(nvrtcProgram, *mut usize) -> nvrtcResult;
/// Writes the bytes of an output.
type ReadFn = unsafe extern "system" fn(nvrtcProgram, *mut c_char) -> nvrtcResult;

/// Converts an answer to a result, without the log, which the owner of the program reads.
fn check(library: nvrtc::Library, (result, call): Answer) -> Result<(), CompileError> {
    match result {
        nvrtcResult::NVRTC_SUCCESS => Ok(()),
        _ => Err(CompileError::of_call(library, call, result, Log::new(""))),
    }
}

pub(super) fn architectures(library: nvrtc::Library) -> Result<Vec<ComputeCapability>, CompileError> {
    let mut count = 0;
    // SAFETY: the place is writable.
    let answer = unsafe { nvrtc_call!(library.fns(), nvrtcGetNumSupportedArchs(&raw mut count)) };
    check(library, answer)?;
    let mut numbers = zeros::<c_int>(usize::try_from(count).unwrap_or(0))?;
    // SAFETY: there is room for as many numbers as NVRTC reported.
    let answer = unsafe { nvrtc_call!(library.fns(), nvrtcGetSupportedArchs(numbers.as_mut_ptr())) };
    check(library, answer)?;
    Ok(capabilities(&numbers))
}

/// Compiles `source` with `arguments`, the output among them.
pub(super) fn compile(
    library: nvrtc::Library,
    source: &Source<'_>,
    arguments: &[Vec<u8>],
    output: Output,
) -> Result<Code, CompileError> {
    // Checked before a compilation that may be long.
    library.require_fn(functions(output).1)?;
    let arguments = arguments.iter().map(|one| c_string("an option", one)).collect::<Result<Vec<_>, _>>()?;
    let pointers: Vec<*const c_char> = arguments.iter().map(|one| one.as_ptr()).collect();
    let count = c_int::try_from(pointers.len()).map_err(|_| CompileError::TooMany { what: "options" })?;

    let texts = Texts::new(source)?;
    let program = Program::new(library, &texts)?;
    for (text, expression) in texts.expressions.iter().zip(&source.expressions) {
        // SAFETY: the program is live, and the text as well, until after the program.
        let added = unsafe { nvrtc_call!(library.fns(), nvrtcAddNameExpression(program.raw, text.as_ptr())) };
        check(library, added).map_err(|error| program.expression(error, expression))?;
    }
    // SAFETY: the program is live; the pointers are `count` C strings, which outlive the call.
    let compiled =
        unsafe { nvrtc_call!(library.fns(), nvrtcCompileProgram(program.raw, count, pointers.as_ptr())) };
    check(library, compiled).map_err(|error| blame(program.with_log(error), source))?;
    let names = texts.expressions.iter().zip(&source.expressions);
    let names = names
        .map(|(text, expression)| Ok(((*expression).to_owned(), program.lowered(text, expression)?)))
        .collect::<Result<_, CompileError>>()?;
    Ok(Code { bytes: program.code(output)?, log: program.log()?, names })
}

/// File name that NVRTC uses in messages about an invalid expression.
const EXPRESSIONS_FILE: &str = "__nv_name_map";

/// Adds the expression to an error about it, which NVRTC reports as an error of the source.
fn blame(error: CompileError, source: &Source<'_>) -> CompileError {
    let CompileError::Rejected { log } = error else { return error };
    let mut errors = log.diagnostics();
    errors.retain(|one| one.severity == Severity::Error);
    if errors.iter().any(|one| one.file.as_deref() != Some(EXPRESSIONS_FILE)) {
        return CompileError::Rejected { log };
    }
    // NVRTC quotes the expression literally.
    let packed = |text: &str| text.split_whitespace().collect::<String>();
    let told: Vec<_> = errors.iter().map(|one| packed(&one.message)).collect();
    let quoted = |one: &&&str| {
        let quoted = format!("\"{}\"", packed(one));
        told.iter().any(|message| message.ends_with(&quoted))
    };
    match source.expressions.iter().find(quoted) {
        Some(expression) => CompileError::Expression { expression: (*expression).to_owned(), log },
        None => CompileError::Rejected { log },
    }
}

/// The functions that return the size and the bytes of an output.
fn functions(output: Output) -> (FnId, FnId) {
    match output {
        Output::Ptx => (FnId::nvrtcGetPTXSize, FnId::nvrtcGetPTX),
        Output::Cubin => (FnId::nvrtcGetCUBINSize, FnId::nvrtcGetCUBIN),
        Output::LtoIr => (FnId::nvrtcGetLTOIRSize, FnId::nvrtcGetLTOIR),
    }
}

/// Texts as C strings, which NVRTC may read until the program is destroyed.
struct Texts {
    source: CString,
    name: CString,
    headers: Vec<(CString, CString)>,
    expressions: Vec<CString>,
}

impl Texts {
    fn new(source: &Source<'_>) -> Result<Self, CompileError> {
        let header = |&(name, text): &(&str, &[u8])| {
            let what = format!("the header `{}`", name.escape_debug());
            Ok((c_string(&what, text)?, c_string("a header's name", name.as_bytes())?))
        };
        let expression = |one: &&str| c_string("a name expression", one.as_bytes());
        Ok(Self {
            source: c_string("the source", source.text)?,
            name: c_string("the source's name", source.name.as_bytes())?,
            headers: source.headers.iter().map(header).collect::<Result<_, CompileError>>()?,
            expressions: source.expressions.iter().map(expression).collect::<Result<_, _>>()?,
        })
    }
}

/// A program of NVRTC. Drop destroys it and swallows errors.
struct Program<'a> {
    library: nvrtc::Library,
    raw: nvrtcProgram,
    /// Kept until the program is destroyed.
    _texts: &'a Texts,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is live, and this is its last use.
        let _swallowed = unsafe { nvrtc_call!(self.library.fns(), nvrtcDestroyProgram(&raw mut self.raw)) };
    }
}

impl<'a> Program<'a> {
    fn new(library: nvrtc::Library, texts: &'a Texts) -> Result<Self, CompileError> {
        let count =
            c_int::try_from(texts.headers.len()).map_err(|_| CompileError::TooMany { what: "headers" })?;
        let (headers, names): (Vec<*const c_char>, Vec<*const c_char>) =
            texts.headers.iter().map(|(text, name)| (text.as_ptr(), name.as_ptr())).unzip();
        let (source, name) = (texts.source.as_ptr(), texts.name.as_ptr());
        let (headers, names) = (headers.as_ptr(), names.as_ptr());
        let mut raw = nvrtcProgram::null();
        // SAFETY: all are C strings that outlive the program, and both lists have `count` of them.
        let answer = unsafe {
            nvrtc_call!(library.fns(), nvrtcCreateProgram(&raw mut raw, source, name, count, headers, names))
        };
        check(library, answer)?;
        Ok(Self { library, raw, _texts: texts })
    }

    fn lowered(&self, text: &CStr, expression: &str) -> Result<String, CompileError> {
        let mut name = ptr::null();
        let to = &raw mut name;
        // SAFETY: the program is live, the text is a C string, and the place is writable.
        let found =
            unsafe { nvrtc_call!(self.library.fns(), nvrtcGetLoweredName(self.raw, text.as_ptr(), to)) };
        check(self.library, found).map_err(|error| self.expression(error, expression))?;
        if name.is_null() {
            let expression = expression.to_owned();
            return Err(CompileError::Expression { expression, log: Log::new(&self.log()?) });
        }
        // SAFETY: not null, so a C string of the live program.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    /// The error for an expression that NVRTC refuses.
    fn expression(&self, error: CompileError, expression: &str) -> CompileError {
        let invalid = nvrtcResult::NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
        match self.with_log(error) {
            CompileError::Nvrtc { result, log, .. } if result == invalid => {
                CompileError::Expression { expression: expression.to_owned(), log }
            }
            error => error,
        }
    }

    /// The error, with the log if it can be read: the error is more important.
    fn with_log(&self, error: CompileError) -> CompileError {
        let log = Log::new(&self.log().unwrap_or_default());
        match error {
            CompileError::Rejected { .. } => CompileError::Rejected { log },
            CompileError::Option { .. } => CompileError::Option { log },
            CompileError::Nvrtc { call, result, .. } => CompileError::Nvrtc { call, result, log },
            error => error,
        }
    }

    fn code(&self, output: Output) -> Result<Vec<u8>, CompileError> {
        let fns = self.library.fns();
        let (size, read): (SizeFn, ReadFn) = match output {
            Output::Ptx => (fns.nvrtcGetPTXSize, fns.nvrtcGetPTX),
            Output::Cubin => (fns.nvrtcGetCUBINSize, fns.nvrtcGetCUBIN),
            Output::LtoIr => (fns.nvrtcGetLTOIRSize, fns.nvrtcGetLTOIR),
        };
        // SAFETY: these are the two functions of one output.
        let mut bytes = unsafe { self.read(functions(output), size, read) }?;
        if output == Output::Ptx && bytes.last() == Some(&0) {
            bytes.pop();
        }
        if bytes.is_empty() {
            return Err(CompileError::Unsupported("the compiler made no code of the kind asked for"));
        }
        Ok(bytes)
    }

    fn log(&self) -> Result<String, CompileError> {
        let fns = self.library.fns();
        let ids = (FnId::nvrtcGetProgramLogSize, FnId::nvrtcGetProgramLog);
        // SAFETY: these are the two functions of the log.
        let bytes = unsafe { self.read(ids, fns.nvrtcGetProgramLogSize, fns.nvrtcGetProgramLog) }?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Reads an output of the program: its size, then its bytes.
    ///
    /// # Safety
    /// `read` writes as many bytes as `size` returns.
    unsafe fn read(&self, ids: (FnId, FnId), size: SizeFn, read: ReadFn) -> Result<Vec<u8>, CompileError> {
        let mut len = 0;
        // SAFETY: the program is live, and the place is writable.
        let answer = unsafe { size(self.raw, &raw mut len) };
        check(self.library, (answer, ids.0))?;
        let mut bytes = zeros::<u8>(len)?;
        // SAFETY: the program is live, and there is room for as many bytes as requested.
        let answer = unsafe { read(self.raw, bytes.as_mut_ptr().cast()) };
        check(self.library, (answer, ids.1))?;
        Ok(bytes)
    }
}

/// Zeroed memory of a size from NVRTC, which may exceed the available memory.
fn zeros<T: Copy + Default>(len: usize) -> Result<Vec<T>, CompileError> {
    let mut room = Vec::new();
    room.try_reserve_exact(len)
        .map_err(|_| CompileError::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) })?;
    room.resize(len, T::default());
    Ok(room)
}

fn c_string(what: &str, bytes: &[u8]) -> Result<CString, CompileError> {
    CString::new(bytes)
        .map_err(|error| CompileError::InteriorNul { what: what.to_owned(), position: error.nul_position() })
}
