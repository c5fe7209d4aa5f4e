//! A registered fat binary, loaded into a library of the driver when it is first used.

use core::ffi::{CStr, c_char, c_void};
use core::ops::RangeInclusive;
use core::ptr;
use std::sync::{Mutex, PoisonError};

use cuprum_sys::{CUdeviceptr, CUjitInputType, CUkernel, CUlibrary, CUlinkState, Fns, StreamMode};

use crate::driver;
use crate::error::{Result, check, cudaError};
use crate::structs::FatBinaryWrapper;

/// A managed variable: the host variable with its address, and its name on the device.
#[derive(Clone, Copy)]
pub(crate) struct Managed {
    pub(crate) place: *mut *mut c_void,
    pub(crate) name: *const c_char,
}

pub(crate) struct Image {
    wrapper: *const FatBinaryWrapper,
    state: Mutex<State>,
}

struct State {
    /// The library, or an error in its code.
    library: Option<Result<CUlibrary>>,
    managed: Vec<Managed>,
}

// SAFETY: the pointers refer to the program's constant data, which exists until it is unregistered.
// The addresses of managed variables are written under the lock.
unsafe impl Send for Image {}
// SAFETY: likewise.
unsafe impl Sync for Image {}

impl Image {
    pub(crate) fn new(wrapper: *const FatBinaryWrapper) -> Self {
        Self { wrapper, state: Mutex::new(State { library: None, managed: Vec::new() }) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_managed(&self, managed: Managed) {
        self.state().managed.push(managed);
    }

    /// Returns the library. The first call loads it and writes the addresses of managed variables.
    pub(crate) fn library(&self, fns: &Fns) -> Result<CUlibrary> {
        let mut state = self.state();
        if let Some(library) = state.library {
            return library;
        }
        let library = self.load(fns).and_then(|library| {
            place_managed(fns, library, &state.managed).map(|()| library).inspect_err(|_| {
                // SAFETY: loaded above, and not shared yet. The first error is the one that counts.
                let _ = unsafe { (fns.cuLibraryUnload)(library) };
            })
        });
        // An error in the code is permanent. Other errors may not be, for example after a reset.
        if library.map_or_else(|code| OF_CODE.contains(&code.0), |_| true) {
            state.library = Some(library);
        }
        library
    }

    pub(crate) fn kernel(&self, fns: &Fns, name: *const c_char) -> Result<CUkernel> {
        let library = self.library(fns)?;
        let mut kernel = CUkernel::null();
        // SAFETY: a valid output, a live library, and a name of the program.
        match check(unsafe { (fns.cuLibraryGetKernel)(&mut kernel, library, name) }) {
            Ok(()) => Ok(kernel),
            Err(cudaError::cudaErrorSymbolNotFound) => Err(cudaError::cudaErrorInvalidDeviceFunction),
            Err(code) => {
                if code == cudaError::cudaErrorNoKernelImageForDevice {
                    driver::report_machine_code(self.wrapper.cast());
                }
                Err(code)
            }
        }
    }

    /// Returns the address and size of a variable of the library, in the current context.
    pub(crate) fn variable(
        &self,
        fns: &Fns,
        name: *const c_char,
        managed: bool,
    ) -> Result<(CUdeviceptr, usize)> {
        let library = self.library(fns)?;
        let get = if managed { fns.cuLibraryGetManaged } else { fns.cuLibraryGetGlobal };
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: valid outputs, a live library, and a name of the program.
        match check(unsafe { get(&mut address, &mut bytes, library, name) }) {
            Err(cudaError::cudaErrorSymbolNotFound) => Err(cudaError::cudaErrorInvalidSymbol),
            result => result.map(|()| (address, bytes)),
        }
    }

    fn load(&self, fns: &Fns) -> Result<CUlibrary> {
        // SAFETY: the program's constant data, which exists until it is unregistered.
        let wrapper = unsafe { self.wrapper.read() };
        if wrapper.magic != FatBinaryWrapper::MAGIC || wrapper.data.is_null() {
            return Err(cudaError::cudaErrorInvalidKernelImage);
        }
        if wrapper.version != FatBinaryWrapper::WITH_PARTS || wrapper.parts.is_null() {
            return load_code(fns, wrapper.data);
        }
        let linked = || load_code(fns, wrapper.data);
        let parts = || Link::new(fns)?.load(wrapper.parts);
        // A compiler links machine code only, and keeps the PTX in the parts.
        match content(wrapper.data) > 0 {
            false => parts(),
            true if driver::is_software() => parts().or_else(|code| otherwise(code, linked)),
            true => linked().or_else(|code| otherwise(code, parts)),
        }
    }

    pub(crate) fn unload(&self) {
        let library = self.state().library.take();
        let Some(Ok(library)) = library else { return };
        let Ok(driver) = driver::library(StreamMode::Legacy) else { return };
        // SAFETY: loaded by `load` and taken out of the state, so unloaded once. At the end of the
        // process the driver may have ended before, and then returns an error.
        let _ = unsafe { (driver.fns().cuLibraryUnload)(library) };
    }
}

/// Tries other code if there was none for the device.
fn otherwise(code: cudaError, other: impl FnOnce() -> Result<CUlibrary>) -> Result<CUlibrary> {
    if code == cudaError::cudaErrorNoKernelImageForDevice { other() } else { Err(code) }
}

/// Codes that are about an image: `cudaErrorInvalidKernelImage` to
/// `cudaErrorSharedObjectInitFailed`.
const OF_CODE: RangeInclusive<u32> = 200..=303;

fn place_managed(fns: &Fns, library: CUlibrary, variables: &[Managed]) -> Result {
    for managed in variables {
        let (mut address, mut bytes): (CUdeviceptr, usize) = (0, 0);
        // SAFETY: valid outputs, a live library, and a name of the program.
        check(unsafe { (fns.cuLibraryGetManaged)(&mut address, &mut bytes, library, managed.name) })?;
        // SAFETY: the program has registered this output for the address.
        unsafe { managed.place.write(address as *mut c_void) };
    }
    Ok(())
}

/// Returns the number of bytes after the header of a fat binary, 0 if it is not one.
fn content(data: *const c_void) -> usize {
    const MAGIC: u32 = 0xba55_ed50;
    // SAFETY: a registered fat binary begins with a header of 16 bytes: magic, versions, number of
    // bytes after it.
    let magic = unsafe { data.cast::<u32>().read_unaligned() };
    if magic != MAGIC {
        return 0;
    }
    let size = data.cast::<u64>().wrapping_add(1);
    // SAFETY: likewise.
    unsafe { size.read_unaligned() as usize }
}

/// Loads complete code.
fn load_code(fns: &Fns, code: *const c_void) -> Result<CUlibrary> {
    let mut library = CUlibrary::null();
    let (options, values) = (ptr::null_mut(), ptr::null_mut());
    let (library_options, library_values) = (ptr::null_mut(), ptr::null_mut());
    let load = fns.cuLibraryLoadData;
    // SAFETY: a valid output, code that its program guarantees, and no options.
    check(unsafe { load(&mut library, code, options, values, 0, library_options, library_values, 0) })?;
    Ok(library)
}

/// Name of the parts in messages, because they have no names.
const PART: &CStr = c"part of a program compiled with -rdc=true";

/// A link of several fat binaries in progress.
struct Link<'fns> {
    fns: &'fns Fns,
    state: CUlinkState,
}

impl<'fns> Link<'fns> {
    fn new(fns: &'fns Fns) -> Result<Self> {
        let mut state = CUlinkState::null();
        // SAFETY: a valid output, and no options.
        check(unsafe { (fns.cuLinkCreate_v2)(0, ptr::null_mut(), ptr::null_mut(), &mut state) })?;
        Ok(Self { fns, state })
    }

    /// Links all parts and loads the result. Fails if no part has code for the device.
    fn load(self, mut parts: *const *const c_void) -> Result<CUlibrary> {
        let mut added = Err(cudaError::cudaErrorNoKernelImageForDevice);
        loop {
            // SAFETY: the list ends with null.
            let part = unsafe { parts.read() };
            if part.is_null() {
                break;
            }
            match self.add(part) {
                // The device runtime library, which most programs do not need, may have no code for
                // a device. If it is needed, the link reports the missing symbols.
                None | Some(Err(cudaError::cudaErrorNoKernelImageForDevice)) => {}
                Some(result) => added = Ok(result?),
            }
            parts = parts.wrapping_add(1);
        }
        added?;
        let (mut code, mut size) = (ptr::null_mut(), 0);
        // SAFETY: valid outputs, and a live link.
        check(unsafe { (self.fns.cuLinkComplete)(self.state, &mut code, &mut size) })?;
        load_code(self.fns, code)
    }

    /// Returns `None` for an empty part.
    fn add(&self, part: *const c_void) -> Option<Result> {
        const HEADER: usize = 16;
        let bytes = content(part);
        if bytes == 0 {
            return None;
        }
        let kind = CUjitInputType::CU_JIT_INPUT_FATBINARY;
        let (data, size) = (part.cast_mut(), HEADER.saturating_add(bytes));
        let (options, values) = (ptr::null_mut(), ptr::null_mut());
        let add = self.fns.cuLinkAddData_v2;
        // SAFETY: a live link, and a fat binary of this size, whose name may be null.
        Some(check(unsafe { add(self.state, kind, data, size, PART.as_ptr(), 0, options, values) }))
    }
}

impl Drop for Link<'_> {
    fn drop(&mut self) {
        // SAFETY: a live link, destroyed once. Its code is loaded, so errors have no effect.
        let _ = unsafe { (self.fns.cuLinkDestroy)(self.state) };
    }
}
