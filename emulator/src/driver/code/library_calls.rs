//! Functions for libraries.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::{INVALID_VALUE, NOT_FOUND, ensure};
use crate::driver::call::{InMut, Out, Text, calls, put_handle};
use crate::driver::handle::Handle;
use crate::driver::state::captures;

use super::compile::read_file;
use super::image::Image;
use super::jit::Options;
use super::library::{LIBRARIES, Library};

calls! {
    objects LIBRARIES;

    fn cuLibraryLoadData(
        _call,
        library: Out<CUlibrary>,
        code: Image,
        jitOptions: InMut<CUjit_option>,
        jitOptionsValues: Out<*mut c_void>,
        numJitOptions: u32,
        _libraryOptions: InMut<CUlibraryOption>,
        _libraryOptionValues: Out<*mut c_void>,
        _numLibraryOptions: u32,
    ) {
        let options = Options::read(numJitOptions, jitOptions, jitOptionsValues)?;
        Library::create(library, code, &options)
    }

    fn cuLibraryLoadFromFile(
        _call,
        library: Out<CUlibrary>,
        fileName: Text,
        jitOptions: InMut<CUjit_option>,
        jitOptionsValues: Out<*mut c_void>,
        numJitOptions: u32,
        _libraryOptions: InMut<CUlibraryOption>,
        _libraryOptionValues: Out<*mut c_void>,
        _numLibraryOptions: u32,
    ) {
        let options = Options::read(numJitOptions, jitOptions, jitOptionsValues)?;
        let bytes = read_file(fileName)?;
        Library::create(library, Image::in_buffer(&bytes), &options)
    }

    fn cuLibraryUnload(_call, library: CUlibrary) {
        let library = Library::find(library)?;
        captures().forbid_unsafe()?;
        library.unload();
        Ok(())
    }

    fn cuLibraryGetKernel(_call, pKernel: Out<CUkernel>, library: CUlibrary, name: Text) {
        pKernel.check()?;
        let name = name.get()?;
        let library = Library::find(library)?;
        library.check()?;
        let index = library.program.kernel(&name);
        put_handle(pKernel, library.kernel(index.ok_or(NOT_FOUND)?)?)
    }

    fn cuLibraryGetKernelCount(_call, count: Out<u32>, lib: CUlibrary) {
        count.check()?;
        count.set(Library::find(lib)?.program.kernels().len() as u32)
    }

    fn cuLibraryEnumerateKernels(
        _call,
        kernels: Out<CUkernel>,
        numKernels: u32,
        lib: CUlibrary,
    ) {
        kernels.check()?;
        let library = Library::find(lib)?;
        let mut handles = Vec::new();
        for index in 0..library.program.kernels().len() {
            handles.push(CUkernel::from_addr(library.kernel(index)?));
        }
        kernels.set_all(&handles, numKernels as usize)
    }

    fn cuLibraryGetModule(call, pMod: Out<CUmodule>, library: CUlibrary) {
        pMod.check()?;
        let context = call.context()?;
        put_handle(pMod, Library::find(library)?.module_in(&context)?.handle)
    }

    fn cuLibraryGetGlobal(
        call,
        dptr: Out<u64>,
        bytes: Out<usize>,
        library: CUlibrary,
        name: Text,
    ) {
        let name = name.get()?;
        ensure(!name.is_empty(), INVALID_VALUE)?;
        let context = call.context()?;
        let (address, size) = Library::find(library)?.module_in(&context)?.global(&name)?;
        dptr.set_if_wanted(address);
        bytes.set_if_wanted(size as usize);
        Ok(())
    }

    /// No functions exist that host and device can both call, as the device's attribute says.
    fn cuLibraryGetUnifiedFunction(
        _call,
        fptr: Out<*mut c_void>,
        library: CUlibrary,
        symbol: Text,
    ) {
        fptr.check()?;
        symbol.get()?;
        Library::find(library)?;
        Err(INVALID_VALUE)
    }

    /// Managed variables belong to no context.
    fn cuLibraryGetManaged(
        _call,
        dptr: Out<u64>,
        bytes: Out<usize>,
        library: CUlibrary,
        name: Text,
    ) {
        let name = name.get()?;
        ensure(!name.is_empty(), INVALID_VALUE)?;
        let library = Library::find(library)?;
        library.check()?;
        let globals = library.program.globals();
        let managed = |&index: &usize| globals.get(index).is_some_and(|global| global.managed);
        let index = library.program.global(&name).filter(managed).ok_or(NOT_FOUND)?;
        let addresses = library.origin.managed(&library.program)?;
        dptr.set_if_wanted(addresses.get(index as u64).copied().unwrap_or(0));
        bytes.set_if_wanted(globals.get(index).map_or(0, |global| global.size as usize));
        Ok(())
    }
}
