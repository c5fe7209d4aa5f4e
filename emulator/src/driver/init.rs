//! Start, version, error texts and the lookup of functions.

use core::ffi::{CStr, c_char, c_void};
use std::ffi::CString;
use std::sync::OnceLock;

use cuprum_sys::*;

use crate::message::{self, Message};
use crate::ordered::Ordered;
use crate::settings::Settings;

use crate::driver::answer::{Answer, INVALID_VALUE, NOT_FOUND, ensure};
use crate::driver::call::{
    Found, Out, Text, at_exit, calls, functions, is_forked_child, set_initialized, stay_loaded, watch_forks,
};
use crate::driver::context::end_of_process;
use crate::driver::device;
use crate::driver::error_text::text;
use crate::driver::log;
use crate::driver::memory::watch_host_accesses;
use crate::driver::state::settings;

/// Names and texts of all error codes as C strings.
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

/// Result of a search by name: the address, and the reason why it may be null.
fn search(symbol: Text, version: i32, flags: u64) -> Answer<(*const c_void, CUdriverProcAddressQueryResult)> {
    let per_thread = u64::from(CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM.0);
    ensure(flags <= 3, INVALID_VALUE)?;
    let mode = if flags & per_thread == 0 { StreamMode::Legacy } else { StreamMode::PerThread };
    // A negative version counts as the newest, as with NVIDIA's driver.
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
        watch_host_accesses();
        if settings().check_leaks {
            at_exit(end_of_process);
        }
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
