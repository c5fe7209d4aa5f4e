//! Wraps a driver function that cuprum has no method for: `cuModuleLoad`, which loads a file. The
//! wrapper has an owner that any thread may drop, and errors that name the call and the version
//! that it needs, as on a driver without it (`CUPRUM_EMULATOR_DRIVER_VERSION=12.3`).

use std::ffi::CStr;

use cuprum::context::{Context, ContextFlags};
use cuprum::sys::{CUmodule, FnId, call};
use cuprum::{Current, Driver, Error, Stream};

struct CodeFile<'ctx> {
    raw: CUmodule,
    /// The default stream. It keeps the context, borrowed or shared, without a driver call.
    home: Stream<'ctx>,
}

// SAFETY: the driver allows any thread to use and to unload the code.
unsafe impl Send for CodeFile<'_> {}

impl<'ctx> CodeFile<'ctx> {
    fn load(cx: &Current<'_, 'ctx>, path: &CStr) -> Result<Self, Error> {
        let context = cx.require(cx.context(), FnId::cuModuleLoad)?;
        let (fns, mut raw) = (context.driver().library().fns(), CUmodule::null());
        // SAFETY: the context is current, the path is a C string, and `raw` outlives the call.
        context.check(unsafe { call!(fns, cuModuleLoad(&raw mut raw, path.as_ptr())) })?;
        Ok(Self { raw, home: Stream::default_in(cx) })
    }

    fn functions(&self, cx: &Current<'_, '_>) -> Result<u32, Error> {
        let context = cx.require(self.home.context(), FnId::cuModuleGetFunctionCount)?;
        let (fns, mut count) = (context.driver().library().fns(), 0);
        // SAFETY: the code is loaded, its context current, and the out-parameter outlives the call.
        context.check(unsafe { call!(fns, cuModuleGetFunctionCount(&raw mut count, self.raw)) })?;
        Ok(count)
    }
}

impl Drop for CodeFile<'_> {
    fn drop(&mut self) {
        let fns = self.home.context().driver().library().fns();
        // SAFETY: the code is loaded, its context current, and it is not used again.
        let unload = || self.home.context().check(unsafe { call!(fns, cuModuleUnload(self.raw)) });
        self.home.context().with_current(unload).unwrap_or_else(|error| self.home.context().swallow(error));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let context = Context::create(Driver::init(library)?.device(0)?, ContextFlags::empty())?;
    let code = context.enter(|cx| {
        println!("no file: {:?}", CodeFile::load(cx, c"kernels/none.ptx").map(drop));
        let code = CodeFile::load(cx, c"kernels/saxpy.ptx")?;
        println!("functions: {:?}", code.functions(cx));
        Ok(code)
    })?;
    std::thread::scope(|scope| scope.spawn(|| drop(code)).join()).map_err(|_| "a panic")?;
    println!("dropped on another thread: {} errors", cuprum::swallowed::count());
    Ok(())
}
