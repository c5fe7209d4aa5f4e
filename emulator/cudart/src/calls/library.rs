//! Libraries of code that the program loads itself.

use core::ffi::{c_char, c_void};

use cuprum_sys::{CUdeviceptr, CUjit_option, CUkernel, CUlibrary, CUlibraryOption};

use crate::error::check;
use crate::exported::calls;
use crate::registry;

calls! {
    fn cudaLibraryLoadData[](
        library: *mut CUlibrary,
        code: *const c_void,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
        number: u32,
        libraryOptions: *mut CUlibraryOption,
        libraryValues: *mut *mut c_void,
        libraryNumber: u32,
    ) => cuLibraryLoadData(library, code, options, values, number, libraryOptions, libraryValues, libraryNumber);

    fn cudaLibraryLoadFromFile[](
        library: *mut CUlibrary,
        file: *const c_char,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
        number: u32,
        libraryOptions: *mut CUlibraryOption,
        libraryValues: *mut *mut c_void,
        libraryNumber: u32,
    ) => cuLibraryLoadFromFile(library, file, options, values, number, libraryOptions, libraryValues, libraryNumber);

    fn cudaLibraryUnload[](library: CUlibrary) |here| {
        registry::remove_handles(here.fns, library);
        // SAFETY: the driver checks the handle.
        check(unsafe { (here.fns.cuLibraryUnload)(library) })
    }

    fn cudaLibraryGetKernel[](kernel: *mut CUkernel, library: CUlibrary, name: *const c_char) |here| {
        // SAFETY: the caller's output and name.
        check(unsafe { (here.fns.cuLibraryGetKernel)(kernel, library, name) })?;
        // SAFETY: the driver has written it.
        registry::add_handle(unsafe { kernel.read() });
        Ok(())
    }

    fn cudaLibraryGetKernelCount[](count: *mut u32, library: CUlibrary) => cuLibraryGetKernelCount(count, library);

    fn cudaLibraryEnumerateKernels[](kernels: *mut CUkernel, number: u32, library: CUlibrary) |here| {
        let mut present = 0;
        // SAFETY: a valid output; the driver checks the handle.
        check(unsafe { (here.fns.cuLibraryGetKernelCount)(&mut present, library) })?;
        // SAFETY: the caller's outputs, as many as stated.
        check(unsafe { (here.fns.cuLibraryEnumerateKernels)(kernels, number, library) })?;
        for index in 0..number.min(present) {
            // SAFETY: the driver has written this many.
            registry::add_handle(unsafe { kernels.wrapping_add(index as usize).read() });
        }
        Ok(())
    }

    fn cudaLibraryGetGlobal[](address: *mut *mut c_void, size: *mut usize, library: CUlibrary, name: *const c_char)
        => cuLibraryGetGlobal(address.cast::<CUdeviceptr>(), size, library, name);

    fn cudaLibraryGetManaged[](address: *mut *mut c_void, size: *mut usize, library: CUlibrary, name: *const c_char)
        => cuLibraryGetManaged(address.cast::<CUdeviceptr>(), size, library, name);

    fn cudaLibraryGetUnifiedFunction[](address: *mut *mut c_void, library: CUlibrary, name: *const c_char)
        => cuLibraryGetUnifiedFunction(address, library, name);
}
