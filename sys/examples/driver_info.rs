//! Describes this machine's driver, with `cuprum-sys` alone: raw calls, no safe layer.
//!
//! `cargo run -p cuprum-sys --example driver_info [PATH]`

use std::error::Error;
use std::ffi::{CStr, c_char};
use std::process::ExitCode;
use std::time::Instant;

use cuprum_sys::{CUdevice, CUdevice_attribute, CUresult, FnId, Library, call};

fn main() -> ExitCode {
    match report() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn report() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let library = match std::env::args_os().nth(1) {
        // SAFETY: the user who runs this names a driver.
        Some(path) => unsafe { Library::open_from(path) }?,
        None => Library::open()?,
    };
    let opened = start.elapsed();

    let present = FnId::ALL.iter().filter(|function| library.has(**function)).count();
    println!("driver:    {}, CUDA {}", library.origin(), library.version());
    println!("functions: {present} of {}, ready in {opened:.1?}", FnId::ALL.len());
    let absent = FnId::ALL.iter().map(|function| library.require_fn(*function)).find_map(Result::err);
    if let Some(absent) = absent {
        println!("           the first it lacks: {absent}");
    }

    check((library.init(), FnId::cuInit))?;
    let mut count = 0;
    // SAFETY: the driver is initialized, the place is ours to write.
    check(unsafe { call!(library.fns(), cuDeviceGetCount(&mut count)) })?;
    for ordinal in 0..count {
        let (name, bytes) = describe(library, ordinal)?;
        println!("device {ordinal}:  {name}, {} MiB", bytes >> 20);
    }
    Ok(())
}

/// A device's name with its compute capability, and its memory in bytes.
fn describe(library: Library, ordinal: i32) -> Result<(String, usize), Box<dyn Error>> {
    let fns = library.fns();
    let mut device: CUdevice = 0;
    // SAFETY: the driver is initialized, the place is ours to write.
    check(unsafe { call!(fns, cuDeviceGet(&mut device, ordinal)) })?;

    let mut name: [c_char; 256] = [0; 256];
    // SAFETY: the device is from the driver; it writes a C string of no more than the length given.
    check(unsafe { call!(fns, cuDeviceGetName(name.as_mut_ptr(), 256, device)) })?;
    // SAFETY: the driver put a NUL there, and the array starts out as NULs.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy();

    let attribute = |attribute| {
        let mut value = 0;
        // SAFETY: the device is from the driver, the place is ours to write.
        check(unsafe { call!(fns, cuDeviceGetAttribute(&mut value, attribute, device)) }).map(|()| value)
    };
    let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;

    let mut bytes = 0;
    // SAFETY: as above.
    check(unsafe { call!(fns, cuDeviceTotalMem_v2(&mut bytes, device)) })?;
    Ok((format!("{name} (compute capability {major}.{minor})"), bytes))
}

/// Turns the result of a call into an error that names the call.
fn check((result, function): (CUresult, FnId)) -> Result<(), Box<dyn Error>> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        error => Err(format!("{function}: {error:?}: {}", error.description().unwrap_or_default()).into()),
    }
}
