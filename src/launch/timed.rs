//! The time that a kernel takes on the device.

use std::time::Duration;

use super::{Arguments, Kernel, LaunchConfig, LaunchError, Signature};
use crate::context::Current;
use crate::error::Error;
use crate::stream::{Event, EventFlags, Stream};

/// Runs `queue` between two events, waits, and gives the time between them.
pub(super) fn timed<E: From<Error>>(
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    queue: impl FnOnce() -> Result<(), E>,
) -> Result<Duration, E> {
    let (start, end) = (Event::new(cx, EventFlags::empty())?, Event::new(cx, EventFlags::empty())?);
    start.record(cx, stream)?;
    queue()?;
    end.record(cx, stream)?;
    end.synchronize()?;
    Ok(end.elapsed_since(&start)?)
}

impl<S: Signature> Kernel<'_, S> {
    /// Launches the kernel, waits for it, and gives the time that it took on the device.
    ///
    /// The time is taken by events ahead of the kernel and behind it; with nothing queued ahead, it includes some microseconds
    /// until the kernel starts. For many launches keep two [events](Event) of your own.
    ///
    /// # Example
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use cuprum::{Buffer, In, InOut, LaunchConfig, Module, Stream};
    ///
    /// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
    /// let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    /// let (x, mut y) = (Buffer::zeroed(&cx, 1000)?, Buffer::zeroed(&cx, 1000)?);
    /// let (stream, config) = (Stream::new(&cx)?, LaunchConfig::for_elements(1000, 256));
    /// // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, and the call waits for it.
    /// let time = unsafe { saxpy.launch_timed(&cx, &stream, config, (1000, 3.0, &x, &mut y)) }?;
    /// println!("{time:?}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`launch`](Kernel::launch); the fault of this kernel too, since the call waits for it.
    ///
    /// # Safety
    /// As for [`launch`](Kernel::launch).
    ///
    /// Driver: `cuLaunchKernel`, CUDA 4.0+; for the two events `cuEventCreate`, `cuEventRecord`, `cuEventSynchronize`, CUDA
    /// 2.0+, `cuEventElapsedTime`, CUDA 2.0+, or `cuEventElapsedTime_v2`, CUDA 12.8+, and `cuEventDestroy_v2`, CUDA 4.0+.
    #[doc(alias = "cuLaunchKernel")]
    pub unsafe fn launch_timed<A: Arguments<S>>(
        &self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<Duration, LaunchError> {
        timed(cx, stream, || {
            // SAFETY: the caller's word.
            unsafe { self.launch(cx, stream, config, arguments) }
        })
    }
}
