//! A driver function that cuprum has no method for, wrapped completely: an owner that any thread may drop, errors with
//! the call and the version that it needs, and a driver that lacks it (`CUPRUM_EMULATOR_DRIVER_VERSION=4.2`).

use cuprum::sys::{CUDA_ARRAY3D_DESCRIPTOR_v2, CUarray, CUarray_format, CUmipmappedArray, FnId, call};
use cuprum::{Context, ContextFlags, Current, Driver, Error, KeptContext};

struct Mipmaps<'ctx> {
    raw: CUmipmappedArray,
    context: KeptContext<'ctx>,
}

// SAFETY: the driver allows any thread to use and to destroy the array.
unsafe impl Send for Mipmaps<'_> {}

impl<'ctx> Mipmaps<'ctx> {
    fn new(cx: &Current<'_, 'ctx>, width: usize, height: usize, levels: u32) -> Result<Self, Error> {
        let context = cx.require(cx.context(), FnId::cuMipmappedArrayCreate)?;
        let (mut raw, mut shape) = (CUmipmappedArray::null(), CUDA_ARRAY3D_DESCRIPTOR_v2::zeroed());
        (shape.Width, shape.Height, shape.NumChannels) = (width, height, 1);
        shape.Format = CUarray_format::CU_AD_FORMAT_FLOAT;
        let fns = context.driver().library().fns();
        // SAFETY: the context is current; both pointers outlive the call.
        let made = unsafe { call!(fns, cuMipmappedArrayCreate(&raw mut raw, &raw const shape, levels)) };
        context.check(made)?;
        Ok(Self { raw, context: cx.keep() })
    }

    fn level(&self, cx: &Current<'_, '_>, level: u32) -> Result<CUarray, Error> {
        let context = cx.require(&self.context, FnId::cuMipmappedArrayGetLevel)?;
        let (fns, mut array) = (context.driver().library().fns(), CUarray::null());
        // SAFETY: the array is live, its context current, and the out-parameter outlives the call.
        context.check(unsafe { call!(fns, cuMipmappedArrayGetLevel(&raw mut array, self.raw, level)) })?;
        Ok(array)
    }
}

impl Drop for Mipmaps<'_> {
    fn drop(&mut self) {
        let fns = self.context.driver().library().fns();
        // SAFETY: the array is live, its context current, and nobody uses it again.
        let destroy = || self.context.check(unsafe { call!(fns, cuMipmappedArrayDestroy(self.raw)) });
        self.context.with_current(destroy).unwrap_or_else(|error| self.context.swallow(error));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let context = Context::create(Driver::init(library)?.device(0)?, ContextFlags::empty())?;
    let mipmaps = context.enter(|cx| {
        let mipmaps = Mipmaps::new(cx, 8, 8, 3)?;
        println!("level 2: {:?}; level 3: {:?}", mipmaps.level(cx, 2).is_ok(), mipmaps.level(cx, 3));
        Ok::<_, Error>(mipmaps)
    })?;
    let mipmaps = mipmaps.inspect_err(|error| println!("none: {error}"));
    std::thread::scope(|scope| scope.spawn(|| drop(mipmaps)).join()).map_err(|_| "a panic")?;
    println!("dropped on another thread: {} errors", cuprum::swallowed::count());
    Ok(())
}
