//! A plugin that works on the device, and can be unloaded by its host.
//!
//! Code must not be unmapped while it can still be called. Three callers reach into this library:
//!
//! * its thread: [`plugin_stop`] ends it and waits for it;
//! * the driver, with queued host functions: the wait before that has run them all. The driver
//!   itself is never unloaded;
//! * the C library: it removes the fork handler of an unloaded library, and keeps a library with
//!   thread-local destructors until these have run. The plugin may therefore stay mapped after
//!   `dlclose`, until a thread of the host ends.
//!
//! Each load leaks its table of driver functions, about 10 KB. The driver stays loaded.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, Current, Driver, In, InOut, Kernel, LaunchConfig, Module, Stream};

type Saxpy = Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>;

/// Numbers to scale, the factor, and the channel for the answer.
type Job = (Vec<f32>, f32, Sender<Result<Vec<f32>, String>>);

/// The host's handle of the plugin: a thread with a context, and its queue.
#[derive(Debug)]
pub struct Plugin {
    jobs: Sender<Job>,
    thread: JoinHandle<Result<(), cuprum::Error>>,
}

impl Plugin {
    fn start() -> Result<Self, Box<dyn Error>> {
        let driver = Driver::load()?;
        let context = PrimaryContext::retain(driver.device(0)?)?.share();
        let module =
            context.enter(|cx| Ok(Module::load_ptx(cx, include_str!("../../../kernels/saxpy.ptx"))?))?;
        let kernel: Saxpy = module.share().kernel("saxpy")?;
        let (jobs, queue) = channel::<Job>();
        let serve = move || {
            context.enter_as(|cx| {
                for (numbers, factor, answer) in queue {
                    let scaled = scaled(cx, &kernel, &numbers, factor).map_err(|error| error.to_string());
                    // The host may have stopped waiting.
                    let _ = answer.send(scaled);
                }
                Ok(())
            })
        };
        Ok(Self { jobs, thread: thread::Builder::new().spawn(serve)? })
    }

    /// Adds `factor` times each number to itself, on the plugin's thread.
    fn scale(&self, numbers: &mut [f32], factor: f32) -> Result<(), Box<dyn Error>> {
        let (sender, answer) = channel();
        self.jobs.send((numbers.to_vec(), factor, sender))?;
        numbers.copy_from_slice(&answer.recv()??);
        Ok(())
    }

    /// Ends the queue and waits for the thread.
    fn stop(self) -> Result<(), Box<dyn Error>> {
        drop(self.jobs);
        Ok(self.thread.join().map_err(|_| "the plugin's thread panicked")??)
    }
}

fn scaled(
    cx: &Current<'_, 'static>,
    kernel: &Saxpy,
    numbers: &[f32],
    factor: f32,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let (x, mut y) = (Buffer::from_slice(cx, numbers)?, Buffer::from_slice(cx, numbers)?);
    let (n, config) = (u32::try_from(numbers.len())?, LaunchConfig::for_elements(numbers.len(), 256));
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each; the copy below comes after it on
    // the same stream.
    unsafe { kernel.launch(cx, &Stream::default_in(cx), config, (n, factor, &x, &mut y)) }?;
    Ok(y.to_vec(cx)?)
}

/// Catches errors and panics, and writes their messages to standard error.
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

/// Multiplies numbers by `1 + factor`. Returns 0 on success.
///
/// # Safety
/// `plugin` is from [`plugin_start`] and not stopped; `numbers` are `len` floats that are not used
/// otherwise during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plugin_scale(
    plugin: *const Plugin,
    numbers: *mut f32,
    len: usize,
    factor: f32,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let plugin = unsafe { &*plugin };
    // SAFETY: guaranteed by the caller.
    let numbers = unsafe { std::slice::from_raw_parts_mut(numbers, len) };
    i32::from(said(|| plugin.scale(numbers, factor)).is_none())
}

/// Stops the plugin: waits for its work and its thread. Afterwards its library can be unloaded. 0
/// if all went well.
///
/// # Safety
/// `plugin` is from [`plugin_start`], not stopped, and in use by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plugin_stop(plugin: *mut Plugin) -> i32 {
    // SAFETY: guaranteed by the caller.
    let plugin = unsafe { Box::from_raw(plugin) };
    i32::from(said(|| plugin.stop()).is_none())
}
