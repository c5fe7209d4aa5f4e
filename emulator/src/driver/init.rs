//! Initialization, version, error texts and function lookup.

use core::ffi::{CStr, c_char, c_void};
use std::ffi::CString;
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use cuprum_sys::*;

use crate::message::{self, Message};
use crate::ordered::Ordered;
use crate::settings::Settings;

use crate::driver::answer::{Answer, INVALID_VALUE, NOT_FOUND, ensure};
use crate::driver::call::{
    Found, In, Out, Text, at_exit, calling_library, calls, functions, is_forked_child, not_supported,
    set_initialized, stay_loaded, watch_forks,
};
use crate::driver::context::tell_held;
use crate::driver::device;
use crate::driver::error_text::text;
use crate::driver::log;
use crate::driver::memory::watch_host_accesses;
use crate::driver::state::{scheduler, settings};

/// Returns the names and texts of all error codes as C strings.
fn error_texts() -> &'static Ordered<(CString, CString)> {
    static TEXTS: OnceLock<Ordered<(CString, CString)>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let mut texts = Ordered::new();
        for (code, name) in CUresult::NAMES.iter().filter(|(code, _)| !CUresult(*code).is_own()) {
            let text = CString::new(text(*code, name)).unwrap_or_default();
            texts.insert(u64::from(*code), (CString::new(*name).unwrap_or_default(), text));
        }
        texts
    })
}

fn error_text(
    error: CUresult,
    out: Out<*const c_char>,
    pick: impl Fn(&'static (CString, CString)) -> &'static CStr,
) -> Answer {
    match error_texts().get(error.0.into()) {
        Some(texts) => out.set(pick(texts).as_ptr()),
        None => {
            out.set(core::ptr::null())?;
            Err(INVALID_VALUE)
        }
    }
}

/// Searches a function by name. Returns its address, and the reason if it is null.
fn search(symbol: Text, version: i32, flags: u64) -> Answer<(*const c_void, CUdriverProcAddressQueryResult)> {
    let per_thread = u64::from(CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM.0);
    ensure(flags <= 3, INVALID_VALUE)?;
    let mode = if flags & per_thread == 0 { StreamMode::Legacy } else { StreamMode::PerThread };
    // A negative version counts as the newest, as in NVIDIA's driver.
    let asked = u32::try_from(version).unwrap_or(u32::MAX);
    let limit = Version::from_raw(asked).min(settings().driver_version);
    let functions = functions().ok_or(NOT_FOUND)?;
    Ok(match functions.by_base(&symbol.get()?, limit, mode) {
        Found::Function(id, mode) => {
            (functions.published(id, mode), CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS)
        }
        Found::TooNew => {
            (core::ptr::null(), CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)
        }
        Found::Unknown => {
            (core::ptr::null(), CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
        }
    })
}

/// The table that the CUDA runtime libraries of CUDA 12 and 13 request. They fail without it.
const RUNTIME_TABLE: [u8; 16] = 0x6bd5_fb6c_5bf4_e74a_8987_d939_12fd_9df9_u128.to_be_bytes();
/// The table that cuFFT requests, whose own CUDA runtime fails without it.
const FFT_TABLE: [u8; 16] = 0x2131_8c60_9714_3248_8ca6_41ff_7324_c8f2_u128.to_be_bytes();
/// Explains the failure of a library that contains NVIDIA's CUDA runtime. Leaks a text for each.
fn of_the_runtime(library: Option<String>) -> &'static str {
    static TEXTS: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let library = library.map(|file| format!(" {file} has it.")).unwrap_or_default();
    let text = format!(
        "Programs of the CUDA runtime do not run with NVIDIA's library of it:{library} It asks the driver for undocumented \
         tables of functions and takes no driver but NVIDIA's, which the software device does not pose as. A program that \
         loads libcudart.so (PyTorch, nvcc -cudart shared) runs by `cuprum run` or `cuda-software` with the one of this \
         project. What has the runtime inside does not (cuBLAS, cuDNN, cuFFT, NCCL, CuPy, JAX, nvcc's default, Device.sync of \
         cuda.core): Use the driver API (cuda.bindings, cuda.core with the sync of a stream, PyCUDA, Numba), Triton or \
         torch.compile, or a GPU."
    );
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    match texts.iter().copied().find(|known| *known == text) {
        Some(known) => known,
        None => {
            let text: &'static str = text.leak();
            texts.push(text);
            text
        }
    }
}

/// The table that NVRTC requests since CUDA 12.9. It also works without it.
const NVRTC_TABLE: [u8; 16] = 0xda91_51d3_3ae6_cc41_a5c0_4f26_d533_e328_u128.to_be_bytes();

/// Reports the findings of checks at the end of the process.
fn end_of_process() {
    scheduler().end_journal();
    if settings().check_leaks {
        tell_held();
    }
    message::tell_left_out();
}

calls! {
    fn cuInit(_call, Flags: u32) {
        ensure(Flags == 0, INVALID_VALUE)?;
        ensure(!is_forked_child(), CUresult::CUDA_ERROR_NOT_INITIALIZED)?;
        if let Err(error) = Settings::in_force() {
            message::tell(&Message::Settings(error));
            return Err(INVALID_VALUE);
        }
        stay_loaded();
        watch_forks();
        ensure(device::count()? > 0, CUresult::CUDA_ERROR_NO_DEVICE)?;
        log::begin();
        static ONCE: Once = Once::new();
        if !cuprum_ptx::IS_OPTIMIZED {
            ONCE.call_once(|| message::tell(&Message::Unoptimized));
        }
        watch_host_accesses();
        at_exit(end_of_process);
        set_initialized();
        Ok(())
    }

    fn cuDriverGetVersion(_call, driverVersion: Out<i32>) {
        driverVersion.set(settings().driver_version.as_raw() as i32)
    }

    fn cuGetErrorName(_call, error: CUresult, pStr: Out<*const c_char>) {
        error_text(error, pStr, |(name, _)| name)
    }

    fn cuGetErrorString(_call, error: CUresult, pStr: Out<*const c_char>) {
        error_text(error, pStr, |(_, text)| text)
    }

    fn cuGetExportTable(_call, ppExportTable: Out<*const c_void>, pExportTableId: In<CUuuid>) {
        ppExportTable.check()?;
        Err(match pExportTableId.get()?.bytes {
            NVRTC_TABLE => CUresult::CUDA_ERROR_NOT_SUPPORTED,
            RUNTIME_TABLE | FFT_TABLE => not_supported(of_the_runtime(calling_library())),
            _ => not_supported(
                "there are no tables of undocumented functions here; compilers and tools ask for some that they can do \
                 without.",
            ),
        })
    }

    fn cuGetProcAddress(
        _call,
        symbol: Text,
        pfn: Out<*mut c_void>,
        cudaVersion: i32,
        flags: u64,
    ) {
        pfn.check()?;
        let (address, _) = search(symbol, cudaVersion, flags)?;
        ensure(!address.is_null(), NOT_FOUND)?;
        pfn.set(address.cast_mut())
    }

    fn cuGetProcAddress_v2(
        _call,
        symbol: Text,
        pfn: Out<*mut c_void>,
        cudaVersion: i32,
        flags: u64,
        symbolStatus: Out<CUdriverProcAddressQueryResult>,
    ) {
        pfn.check()?;
        let (address, status) = search(symbol, cudaVersion, flags)?;
        symbolStatus.set_if_wanted(status);
        pfn.set(address.cast_mut())
    }
}
