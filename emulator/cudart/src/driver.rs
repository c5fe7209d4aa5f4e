//! The driver: `libcuda.so.1`, loaded by the first call that needs it.

use core::ffi::{c_char, c_void};
use core::ptr;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use cuprum_sys::{CUresult, Fns, Library, StreamMode, Version, mapped_at};

use crate::error::{Result, check, cudaError};

/// The oldest driver with libraries and with kernels that belong to no context.
const OLDEST: Version = Version::new(12, 0);

static LEGACY: OnceLock<Option<Library>> = OnceLock::new();
static PER_THREAD: OnceLock<Option<Library>> = OnceLock::new();

fn load(mode: StreamMode) -> Option<Library> {
    let per_thread = mode == StreamMode::PerThread;
    let library = Library::options().per_thread_default_stream(per_thread).open().ok()?;
    (library.version() >= OLDEST).then_some(library)
}

/// Returns the driver, which may not be initialized.
pub(crate) fn library(mode: StreamMode) -> Result<Library> {
    let slot = match mode {
        StreamMode::Legacy => &LEGACY,
        StreamMode::PerThread => &PER_THREAD,
    };
    slot.get_or_init(|| load(mode)).ok_or(cudaError::cudaErrorInsufficientDriver)
}

/// Returns the functions of the driver, which is initialized.
pub(crate) fn fns(mode: StreamMode) -> Result<&'static Fns> {
    let library = library(mode)?;
    check(library.init())?;
    Ok(library.fns())
}

/// True if the driver, which is loaded, is a software device.
pub(crate) fn is_software() -> bool {
    let mut loaded = [&LEGACY, &PER_THREAD].into_iter().filter_map(|slot| slot.get().copied().flatten());
    loaded.any(Library::is_software_device)
}

/// True in a forked child of a user of the driver: other threads' locks may never be released.
pub(crate) fn is_forked() -> bool {
    LEGACY.get().copied().flatten().is_some_and(Library::forked)
}

/// Returns the driver's text for one of its codes.
pub(crate) fn describe(code: CUresult) -> Option<*const c_char> {
    let fns = library(StreamMode::Legacy).ok()?.fns();
    let mut text = ptr::null();
    // SAFETY: a valid output; the function needs no initialized driver.
    let result = unsafe { (fns.cuGetErrorString)(code, &mut text) };
    (result == CUresult::CUDA_SUCCESS && !text.is_null()).then_some(text)
}

/// Prints a line for the programmer, who otherwise only sees a number.
///
/// `CUPRUM_EMULATOR_REPORTS=0` suppresses it, like the reports of the software device.
fn report(text: &str) {
    if cuprum_sys::environment::variable("CUPRUM_EMULATOR_REPORTS").is_none_or(|value| value != "0") {
        // If standard error is closed, only the code remains.
        let _ = std::io::stderr().write_all(format!("cuprum's libcudart: {text}\n").as_bytes());
    }
}

pub(crate) fn report_not_built(function: &str, subject: &str) {
    report(&format!("{function} is not built ({subject}): cudaErrorNotSupported"));
}

/// Reports a library once if the device cannot run its kernels. `data` is an address in it.
pub(crate) fn report_machine_code(data: *const c_void) {
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let file = mapped_at(data.addr())
        .map_or_else(|| "the program".to_owned(), |mapped| mapped.file.display().to_string());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.contains(&file) {
        return;
    }
    report(&format!(
        "{file} has machine code for some of its kernels and no PTX that this device runs: \
         cudaErrorNoKernelImageForDevice. PyTorch's own operators: use torch.compile, or compute them on the CPU \
         (cuda_software.torch_operators_on_cpu does). An extension: TORCH_CUDA_ARCH_LIST=8.0+PTX. nvcc: -gencode arch=compute_80,code=compute_80"
    ));
    said.push(file);
}

/// Uses the software device in this process instead of a library.
#[cfg(test)]
pub(crate) fn use_software_device() {
    LEGACY.get_or_init(|| Some(cuprum_emulator::library_in(StreamMode::Legacy)));
    PER_THREAD.get_or_init(|| Some(cuprum_emulator::library_in(StreamMode::PerThread)));
}
