//! A plugin that works on the device, and can be unloaded by its host.
//!
//! Code must not be unmapped that somebody will still call. What calls back into this one:
//!
//! * its threads: [`plugin_stop`] ends the worker and waits for it;
//! * the driver, with functions that streams were given: the wait before that ran them all. The driver itself is never
//!   unloaded, by whoever loaded it;
//! * the C library: it forgets the handler of forks of a library that goes, and keeps a library with thread-local
//!   destructors until these have run. So it may stay mapped after `dlclose`, until a thread of the host ends.
//!
//! What a load leaves behind is its table of driver functions, about 10 KB, and the loaded driver.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use cuprum::{
    Buffer, Current, Driver, In, InOut, LaunchConfig, Module, PrimaryContext, SharedKernel, Stream, Worker,
};

type Kernel = SharedKernel<'static, (u32, f32, In<f32>, InOut<f32>)>;

/// What the host has of the plugin: a thread with a context, and a kernel.
#[derive(Debug)]
pub struct Plugin {
    kernel: Arc<Kernel>,
    worker: Worker,
}

impl Plugin {
    fn start() -> Result<Self, Box<dyn Error>> {
        let driver = Driver::load()?;
        let context = PrimaryContext::retain(driver.device(0)?)?.share();
        let worker = Worker::spawn(&context)?;
        let module =
            context.enter(|cx| Module::load_ptx(cx, include_str!("../../../kernels/saxpy.ptx")))??;
        Ok(Self { kernel: Arc::new(module.share().kernel("saxpy")?), worker })
    }

    /// Adds `factor` times each number to itself, on the worker's thread.
    fn scale(&self, numbers: &mut [f32], factor: f32) -> Result<(), Box<dyn Error>> {
        let (kernel, given) = (Arc::clone(&self.kernel), numbers.to_vec());
        let work = move |cx: &mut Current<'_, 'static>| -> Result<Vec<f32>, String> {
            scaled(cx, &kernel, &given, factor).map_err(|error| error.to_string())
        };
        numbers.copy_from_slice(&self.worker.run(work)??);
        Ok(())
    }
}

fn scaled(
    cx: &Current<'_, 'static>,
    kernel: &Kernel,
    numbers: &[f32],
    factor: f32,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let (x, mut y) = (Buffer::from_slice(cx, numbers)?, Buffer::from_slice(cx, numbers)?);
    let (n, config) = (u32::try_from(numbers.len())?, LaunchConfig::for_elements(numbers.len(), 256));
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; the copy below comes after it on the same stream.
    unsafe { kernel.launch(cx, &Stream::default_in(cx), config, (n, factor, &x, &mut y)) }?;
    Ok(y.to_vec(cx)?)
}

/// Keeps errors and panics in here; what they say goes to standard error.
fn said<T>(body: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result.map_err(|error| eprintln!("plugin: {error}")).ok(),
        Err(_) => None,
    }
}

/// Starts the plugin; null if that fails.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_start() -> *mut Plugin {
    said(Plugin::start).map_or(ptr::null_mut(), |plugin| Box::into_raw(Box::new(plugin)))
}

/// Multiplies numbers by `1 + factor`; 0 if it is done.
///
/// # Safety
/// `plugin` is from [`plugin_start`] and not stopped; `numbers` are `len` floats that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plugin_scale(
    plugin: *const Plugin,
    numbers: *mut f32,
    len: usize,
    factor: f32,
) -> i32 {
    // SAFETY: the caller's word.
    let plugin = unsafe { &*plugin };
    // SAFETY: the caller's word.
    let numbers = unsafe { std::slice::from_raw_parts_mut(numbers, len) };
    i32::from(said(|| plugin.scale(numbers, factor)).is_none())
}

/// Stops the plugin: waits for its work and its thread. Afterwards its library can be unloaded. 0 if all went well.
///
/// # Safety
/// `plugin` is from [`plugin_start`], not stopped, and in use by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plugin_stop(plugin: *mut Plugin) -> i32 {
    // SAFETY: the caller's word.
    let plugin = unsafe { Box::from_raw(plugin) };
    i32::from(said(|| Ok(plugin.worker.close()?)).is_none())
}
