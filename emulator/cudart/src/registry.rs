//! Registered kernels and variables, found by their host addresses.

use core::ffi::{c_char, c_void};
use core::ptr;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cuprum_sys::{CUdeviceptr, CUfunction, CUkernel, CUlibrary, Fns};

use crate::driver;
use crate::error::{Result, check, cudaError};
use crate::image::{Image, Managed};
use crate::structs::FatBinaryWrapper;

/// A kernel, which its first use looks up in the library.
struct Kernel {
    image: Arc<Image>,
    name: *const c_char,
    found: AtomicPtr<c_void>,
}

#[derive(Clone)]
struct Variable {
    image: Arc<Image>,
    name: *const c_char,
    managed: bool,
}

#[derive(Default)]
struct Registry {
    images: HashMap<usize, Arc<Image>>,
    kernels: HashMap<usize, Kernel>,
    variables: HashMap<usize, Variable>,
    /// Kernel handles returned to the program, which may pass them in place of host addresses.
    handles: HashSet<usize>,
}

// SAFETY: the names are constant data of the program, until it is unregistered.
unsafe impl Send for Registry {}
// SAFETY: likewise.
unsafe impl Sync for Registry {}

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

fn read() -> RwLockReadGuard<'static, Registry> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Registry> {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn add_image(wrapper: *const FatBinaryWrapper) -> *mut *mut c_void {
    let image = Arc::new(Image::new(wrapper));
    let handle = Arc::as_ptr(&image).addr();
    write().images.insert(handle, image);
    ptr::without_provenance_mut(handle)
}

fn image(handle: *mut *mut c_void) -> Option<Arc<Image>> {
    read().images.get(&handle.addr()).cloned()
}

/// Removes a fat binary with its kernels and variables, and unloads it.
pub(crate) fn remove_image(handle: *mut *mut c_void) {
    if driver::is_forked() {
        return;
    }
    let mut registry = write();
    let Some(image) = registry.images.remove(&handle.addr()) else { return };
    let Registry { kernels, variables, handles, .. } = &mut *registry;
    kernels.retain(|_, kernel| {
        let stays = !Arc::ptr_eq(&kernel.image, &image);
        if !stays {
            handles.remove(&kernel.found.load(Ordering::Relaxed).addr());
        }
        stays
    });
    variables.retain(|_, variable| !Arc::ptr_eq(&variable.image, &image));
    drop(registry);
    image.unload();
}

/// Registers one kernel. Of two at one host address (a template in two sources), the first stays.
pub(crate) fn add_kernel(handle: *mut *mut c_void, host: *const c_void, name: *const c_char) {
    let Some(image) = image(handle) else { return };
    let found = AtomicPtr::new(ptr::null_mut());
    write().kernels.entry(host.addr()).or_insert(Kernel { image, name, found });
}

pub(crate) fn add_variable(handle: *mut *mut c_void, host: *const c_void, name: *const c_char) {
    let Some(image) = image(handle) else { return };
    write().variables.entry(host.addr()).or_insert(Variable { image, name, managed: false });
}

/// Registers a managed variable, whose address the program stores at `place`.
pub(crate) fn add_managed(handle: *mut *mut c_void, place: *mut *mut c_void, name: *const c_char) {
    let Some(image) = image(handle) else { return };
    image.add_managed(Managed { place, name });
    write().variables.entry(place.expose_provenance()).or_insert(Variable { image, name, managed: true });
}

/// Loads a fat binary, which writes the addresses of its managed variables.
pub(crate) fn load(fns: &Fns, handle: *mut *mut c_void) -> Result {
    image(handle).ok_or(cudaError::cudaErrorInvalidResourceHandle)?.library(fns).map(drop)
}

/// Returns the kernel of a host function, or of a kernel's own handle.
pub(crate) fn kernel(fns: &Fns, host: *const c_void) -> Result<CUkernel> {
    let registry = read();
    let Some(kernel) = registry.kernels.get(&host.addr()) else {
        let is_handle = registry.handles.contains(&host.addr());
        return is_handle
            .then_some(CUkernel(host.cast_mut()))
            .ok_or(cudaError::cudaErrorInvalidDeviceFunction);
    };
    let found = kernel.found.load(Ordering::Acquire);
    if !found.is_null() {
        return Ok(CUkernel(found));
    }
    let (image, name) = (Arc::clone(&kernel.image), kernel.name);
    // Calls the driver without the lock: loading may take long, and other threads launch.
    drop(registry);
    let found = image.kernel(fns, name)?;
    if let Some(kernel) = read().kernels.get(&host.addr()) {
        kernel.found.store(found.0, Ordering::Release);
    }
    add_handle(found);
    Ok(found)
}

/// Returns the host address of a kernel in a graph, or its handle if it has none. The driver names
/// it by its handle, or by the function that it has in a context.
pub(crate) fn host_of(fns: &Fns, kernel: CUkernel, function: CUfunction) -> Result<*mut c_void> {
    let is_it = |candidate: CUkernel| {
        if !kernel.is_null() {
            return candidate == kernel;
        }
        let mut own = CUfunction::null();
        // SAFETY: a valid output, and a kernel of a library that is loaded.
        check(unsafe { (fns.cuKernelGetFunction)(&mut own, candidate) }).is_ok() && own == function
    };
    let registry = read();
    let host = registry.kernels.iter().find(|(_, kernel)| {
        let found = kernel.found.load(Ordering::Acquire);
        !found.is_null() && is_it(CUkernel(found))
    });
    let handle =
        || registry.handles.iter().find(|handle| is_it(CUkernel(ptr::without_provenance_mut(**handle))));
    host.map(|(host, _)| host)
        .or_else(handle)
        .map(|address| ptr::with_exposed_provenance_mut(*address))
        .ok_or(cudaError::cudaErrorInvalidDeviceFunction)
}

pub(crate) fn has_kernel(host: *const c_void) -> bool {
    read().kernels.contains_key(&host.addr())
}

/// Allows a kernel's handle in place of a host function.
pub(crate) fn add_handle(kernel: CUkernel) {
    write().handles.insert(kernel.0.addr());
}

pub(crate) fn remove_handles(fns: &Fns, library: CUlibrary) {
    let belongs = |kernel: usize| {
        let mut owner = CUlibrary::null();
        // SAFETY: a valid output, and a kernel of a library that is not unloaded yet.
        let result =
            unsafe { (fns.cuKernelGetLibrary)(&mut owner, CUkernel(ptr::without_provenance_mut(kernel))) };
        check(result).is_ok() && owner == library
    };
    write().handles.retain(|kernel| !belongs(*kernel));
}

/// Returns the address and size of the variable with this host address, in the current context.
pub(crate) fn variable(fns: &Fns, host: *const c_void) -> Result<(CUdeviceptr, usize)> {
    let variable = find_variable(host).ok_or(cudaError::cudaErrorInvalidSymbol)?;
    variable.image.variable(fns, variable.name, variable.managed)
}

/// Finds a variable by its host address; a managed one also by its own, which programs use.
fn find_variable(host: *const c_void) -> Option<Variable> {
    let registry = read();
    let by_place = registry.variables.get(&host.addr());
    let by_address = || {
        registry.variables.iter().filter(|(_, variable)| variable.managed).find(|(place, _)| {
            let place: *const *const c_void = ptr::with_exposed_provenance(**place);
            // SAFETY: the address that the program has registered, valid until it is unregistered.
            unsafe { place.read() == host }
        })
    };
    by_place.or_else(|| by_address().map(|(_, variable)| variable)).cloned()
}
