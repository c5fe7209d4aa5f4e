//! The list of NVRTC's functions: data and nothing else. One line is one exported symbol.
//!
//! The number is the CUDA version of the first NVRTC that has it.

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::result::nvrtcResult;
use super::{function_table, nvrtcFlowCallback, nvrtcProgram};

function_table! {
    /// Every function of NVRTC, ready to be called.
    ///
    /// A function that the library lacks returns `nvrtcResult::UNRESOLVED` and does nothing else;
    /// [`Library::has`](super::Library::has) checks beforehand. Versions are given as the driver
    /// writes them: 12040 is CUDA 12.4.
    table;
    /// Names one function of NVRTC.
    id;
    result nvrtcResult;

    // Version and architectures
    /// Returns the two numbers of the version.
    7000 fn nvrtcVersion(major: *mut c_int, minor: *mut c_int);
    /// Returns the number of architectures that this NVRTC compiles for.
    11020 fn nvrtcGetNumSupportedArchs(numArchs: *mut c_int);
    /// Writes those architectures in ascending order: 75 is `compute_75`.
    11020 fn nvrtcGetSupportedArchs(supportedArchs: *mut c_int);

    // Programs
    /// Makes a program of source text; `headers` are texts, included under the names in
    /// `includeNames`.
    7000 fn nvrtcCreateProgram(prog: *mut nvrtcProgram, src: *const c_char, name: *const c_char, numHeaders: c_int, headers: *const *const c_char, includeNames: *const *const c_char);
    /// Destroys a program and sets the handle to null.
    7000 fn nvrtcDestroyProgram(prog: *mut nvrtcProgram);
    /// Compiles a program. The log is there after a failure as well.
    7000 fn nvrtcCompileProgram(prog: nvrtcProgram, numOptions: c_int, options: *const *const c_char);
    /// Sets the callback that decides, during compilation, whether to go on.
    12080 fn nvrtcSetFlowCallback(prog: nvrtcProgram, callback: nvrtcFlowCallback, payload: *mut c_void);

    // Results
    /// Returns the bytes of the PTX, the NUL at its end included.
    7000 fn nvrtcGetPTXSize(prog: nvrtcProgram, ptxSizeRet: *mut usize);
    /// Writes the PTX.
    7000 fn nvrtcGetPTX(prog: nvrtcProgram, ptx: *mut c_char);
    /// Returns the bytes of the cubin; 0 if the program was compiled for a virtual architecture.
    11010 fn nvrtcGetCUBINSize(prog: nvrtcProgram, cubinSizeRet: *mut usize);
    /// Writes the cubin.
    11010 fn nvrtcGetCUBIN(prog: nvrtcProgram, cubin: *mut c_char);
    /// Returns the bytes of the NVVM code. Removed in CUDA 13.0.
    11040 fn nvrtcGetNVVMSize(prog: nvrtcProgram, nvvmSizeRet: *mut usize);
    /// Writes the NVVM code. Removed in CUDA 13.0.
    11040 fn nvrtcGetNVVM(prog: nvrtcProgram, nvvm: *mut c_char);
    /// Returns the bytes of the code for link-time optimization; 0 if the program was not compiled
    /// with `-dlto`.
    12000 fn nvrtcGetLTOIRSize(prog: nvrtcProgram, LTOIRSizeRet: *mut usize);
    /// Writes the code for link-time optimization.
    12000 fn nvrtcGetLTOIR(prog: nvrtcProgram, LTOIR: *mut c_char);
    /// Returns the bytes of the code for OptiX; 0 if the program was not compiled with `-optix-ir`.
    12000 fn nvrtcGetOptiXIRSize(prog: nvrtcProgram, optixirSizeRet: *mut usize);
    /// Writes the code for OptiX.
    12000 fn nvrtcGetOptiXIR(prog: nvrtcProgram, optixir: *mut c_char);
    /// Returns the bytes of the tile code.
    13020 fn nvrtcGetTileIRSize(prog: nvrtcProgram, TileIRSizeRet: *mut usize);
    /// Writes the tile code.
    13020 fn nvrtcGetTileIR(prog: nvrtcProgram, TileIR: *mut c_char);
    /// Returns the bytes of the log, the NUL at its end included.
    7000 fn nvrtcGetProgramLogSize(prog: nvrtcProgram, logSizeRet: *mut usize);
    /// Writes the log.
    7000 fn nvrtcGetProgramLog(prog: nvrtcProgram, log: *mut c_char);

    // Names
    /// Asks, before compilation, for the name in the code of an expression such as `kernel<float>`.
    8000 fn nvrtcAddNameExpression(prog: nvrtcProgram, name_expression: *const c_char);
    /// Returns, after compilation, the name in the code; the program owns it.
    8000 fn nvrtcGetLoweredName(prog: nvrtcProgram, name_expression: *const c_char, lowered_name: *mut *const c_char);

    // Precompiled headers
    /// Returns the bytes set aside for precompiled headers.
    12080 fn nvrtcGetPCHHeapSize(ret: *mut usize);
    /// Sets the bytes to set aside for precompiled headers; their contents are lost.
    12080 fn nvrtcSetPCHHeapSize(size: usize);
    /// Reports, as a result code, the outcome of a program's precompiled header.
    12080 fn nvrtcGetPCHCreateStatus(prog: nvrtcProgram);
    /// Returns the bytes that the precompiled header of a program needed.
    12080 fn nvrtcGetPCHHeapSizeRequired(prog: nvrtcProgram, size: *mut usize);

    // Headers that come along
    /// Writes the toolkit's headers into a folder, under a lock that all processes honor.
    13030 fn nvrtcInstallBundledHeaders(installPath: *const c_char, flags: c_uint, errorLog: *mut *const c_char);
    /// Describes those headers; `info` points at an `nvrtcBundledHeadersInfo` of the toolkit's
    /// header.
    13030 fn nvrtcGetBundledHeadersInfo(info: *mut c_void, errorLog: *mut *const c_char);
    /// Removes the folder again.
    13030 fn nvrtcRemoveBundledHeaders(installPath: *const c_char, errorLog: *mut *const c_char);
}
