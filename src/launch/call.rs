//! Calls of kernels with memory of the host: copies to the device, the launch, and copies back, in one.

use std::ffi::c_void;

use super::host::sealed::{Back, CallArgument, Staged};
use super::tuples::for_each_tuple;
use super::{Kernel, LaunchConfig, LaunchError, Parameter, Signature};
use crate::context::Current;
use crate::error::Error;
use crate::memory::MemoryError;
use crate::stream::Stream;

/// Why a call of a kernel failed.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::launch::{CallError, HostOut, LaunchError};
/// use cuprum::{InOut, LaunchConfig, Module, Stream};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/faults.ptx")?)?;
/// let write = module.function("oob_write")?.bind::<(InOut<u32>, u64, u32)>()?;
/// let (stream, nobody) = (Stream::new(&cx)?, LaunchConfig::new(0, 32));
/// // SAFETY: the kernel writes the first element.
/// let result = unsafe { write.call(&cx, &stream, nobody, (HostOut(&mut [0u32; 4]), 0u64, 7u32)) };
/// assert!(matches!(result, Err(CallError::Launch(LaunchError::Empty { .. }))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// Memory could not be allocated or copied.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The kernel was not launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        Self::Launch(error.into())
    }
}

/// Arguments of a call for the signature `S`: a tuple with, for each parameter, what a launch takes, or [`HostIn`],
/// [`HostOut`] or [`HostInOut`].
///
/// [`HostIn`]: super::HostIn
/// [`HostOut`]: super::HostOut
/// [`HostInOut`]: super::HostInOut
///
/// Example: see [`Kernel::call`](super::Kernel::call), `call`.
#[diagnostic::on_unimplemented(
    message = "the kernel's signature `{S}` cannot be called with the arguments `{Self}`",
    label = "not a tuple with one argument per parameter",
    note = "`In<T>` is given `HostIn(&elements)`, `InOut<T>` is given `HostOut(&mut elements)` or `HostInOut(&mut elements)`, \
            or either what a launch takes; arguments are a tuple with as many values as the signature has parameters"
)]
pub trait CallArguments<S: Signature>: sealed::CallArguments<S> {}

impl<S: Signature, A: sealed::CallArguments<S>> CallArguments<S> for A {}

mod sealed {
    use super::{CallError, Current, Stream, c_void};

    pub trait CallArguments<S> {
        /// Copies, calls `launch` with an array of one pointer for each argument, copies back, and waits.
        fn call<R>(
            self,
            cx: &Current<'_, '_>,
            stream: &Stream<'_>,
            launch: impl FnOnce(*mut *mut c_void) -> Result<R, CallError>,
        ) -> Result<R, CallError>;
    }
}

impl sealed::CallArguments<()> for () {
    fn call<R>(
        self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        launch: impl FnOnce(*mut *mut c_void) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        cx.scope_as(stream, |_| launch(std::ptr::null_mut()))
    }
}

macro_rules! tuples {
    ($($parameter:ident $argument:ident $value:ident),*) => {
        impl<$($parameter: Parameter, $argument: CallArgument<$parameter>),*> sealed::CallArguments<($($parameter,)*)>
            for ($($argument,)*)
        {
            fn call<R>(
                self,
                cx: &Current<'_, '_>,
                stream: &Stream<'_>,
                launch: impl FnOnce(*mut *mut c_void) -> Result<R, CallError>,
            ) -> Result<R, CallError> {
                let ($($value,)*) = self;
                $( let mut $value = $value.stage(cx)?; )*
                cx.scope_as(stream, |scope| {
                    $( let mut $value = $value.queue(scope)?; )*
                    let mut pointers = [$( (&raw mut $value.0).cast::<c_void>() ),*];
                    let result = launch(pointers.as_mut_ptr())?;
                    $( $value.1.copy(scope)?; )*
                    Ok(result)
                })
            }
        }
    };
}

for_each_tuple! { tuples }

impl<S: Signature> Kernel<'_, S> {
    /// Runs the kernel on memory of the host: copies what it reads to the device, launches it, and copies what it writes
    /// back, all on `stream`. When it returns, the results are there.
    ///
    /// Memory of the device is allocated for the time of the call, which costs more than a launch. A slice is copied back
    /// by a call that waits for it, as [`Scope::read`](crate::stream::Scope::read) does; page-locked memory, given as
    /// its owner, by the stream. After an error, what was to be written has any contents, and page-locked memory may be
    /// [lost](crate::PinnedBuffer#when-it-is-lost).
    ///
    /// # Example
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::launch::{HostIn, HostInOut};
    /// use cuprum::{In, InOut, LaunchConfig, Module, Stream};
    ///
    /// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
    /// let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    /// let (x, mut y) = (vec![1.0; 1000], vec![2.0; 1000]);
    /// let (stream, config) = (Stream::new(&cx)?, LaunchConfig::for_elements(1000, 256));
    /// // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
    /// unsafe { saxpy.call(&cx, &stream, config, (1000, 3.0, HostIn(&x), HostInOut(&mut y))) }?;
    /// assert_eq!(y, [5.0; 1000]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CallError`]: as [`launch`](Kernel::launch), and as for allocating and copying; the fault of this kernel too, since
    /// the call waits for it.
    ///
    /// # Safety
    /// 1. The [duties of a launch](crate::launch#duties-of-a-launch). Of memory given by [`HostIn`](super::HostIn),
    ///    [`HostOut`](super::HostOut) and [`HostInOut`](super::HostInOut) they are only that it is touched to its length, and
    ///    that what `HostIn` gave is only read.
    ///
    /// Driver: `cuLaunchKernel`, CUDA 4.0+, and `cuStreamSynchronize`, CUDA 2.0+; for each argument of the host
    /// `cuMemAlloc_v2` and `cuMemFree_v2`, CUDA 3.2+, and as it needs `cuMemcpyHtoDAsync_v2`, `cuMemcpyDtoH_v2` or
    /// `cuMemcpyDtoHAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuLaunchKernel")]
    pub unsafe fn call<A: CallArguments<S>>(
        &self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<(), CallError> {
        self.check(config)?;
        arguments.call(cx, stream, |pointers| {
            // SAFETY: there is one pointer for each parameter, to a value of its size that outlives the call; the caller
            // answers for the kernel.
            Ok(unsafe { self.function().launch_pointers(cx, stream, config, pointers) }?)
        })
    }
}
